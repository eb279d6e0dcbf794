import Cloud
import CloudAPI
import Domain

extension SimulatedServer {
    /// More records than these in one batch are refused.
    static let batchRecordsMax = 5
    /// A record with this property is refused for good.
    static let poison = "poison"

    mutating func records(_ call: CloudCall, at time: TrueTime, _ rng: inout SimulationRNG) -> CloudResponse {
        let zone = store.value.zones[call.zone]
        let epoch = store.value.epoch
        if case .createZone = call.request {
            store.commit { $0.zones[call.zone].exists = true }
            coverage.note(.zoneCreated)
            return .done
        }
        guard zone.exists else { return fail(.zoneNotFound) }
        switch call.request {
        case .account:
            let wall = UInt64(clamping: clock.wall(at: time).millisecondsSince1970)
            return .account(
                CloudAccount(
                    zone: zone.name, host: members[call.host].id, hostName: members[call.host].name, serverTime: wall,
                    epoch: epoch, policy: terms.policy.rawValue, zoneID: zone.id.description))
        case .modify(let batch): return modify(batch, call, at: time, &rng)
        case .changes(let type, let since, let limit):
            do throws(CloudFailure) {
                return .page(
                    try zone.changes(
                        of: type, since: since, limit: limit, epoch: epoch, heedsTimeline: bug != .noTimeline))
            } catch {
                return refuse(error, since)
            }
        default: return .done
        }
    }

    private mutating func modify(
        _ batch: OutboxBatch, _ call: CloudCall, at time: TrueTime, _ rng: inout SimulationRNG
    ) -> CloudResponse {
        guard batch.records.count <= Self.batchRecordsMax else { return fail(.limitExceeded) }
        let isPoisoned = batch.records.contains { $0.properties[Self.poison] != nil }
        if isPoisoned, rng.happens(onceIn: 2) { return fail(.badRequest) }
        var types: [RecordType] = []
        var results: [PushResult] = []
        let wall = clock.wall(at: time).millisecondsSince1970
        for record in batch.records {
            guard record.properties[Self.poison] == nil else {
                coverage.note(.badRequest)
                results.append(PushResult(key: record.key, failure: SyncFailure(.badRequest, "poison")))
                continue
            }
            let merge = merge
            let moment = CloudZone.Moment(time: time, wall: wall, mark: hasMarked[call.zone] ? nil : rng.next())
            let fate = store.commit { $0.zones[call.zone].take(record, at: moment, merge: merge) }
            if fate == .clockSkew {
                coverage.note(.clockSkew)
                results.append(PushResult(key: record.key, failure: SyncFailure(.clockSkew, "too far ahead")))
                continue
            }
            if fate == .changed { hasMarked[call.zone] = true }
            if fate == .changed, !types.contains(record.key.type) { types.append(record.key.type) }
            let stored = store.value.zones[call.zone].records[record.key]?.record
            results.append(PushResult(key: record.key, merged: stored == record ? nil : stored))
        }
        if !types.isEmpty { tellAll(.changed(types: types, host: members[call.host].id), in: call.zone) }
        coverage.note(.pushed, results.count)
        return .pushed(PushOutcome(results: results, serverTime: UInt64(clamping: wall)))
    }

    private mutating func fail(_ kind: SyncFailure.Kind) -> CloudResponse {
        note(kind)
        return .failed(SyncFailure(kind, "\(kind)"))
    }

    /// A token that is good for nothing any more.
    private mutating func refuse(_ failure: CloudFailure, _ since: String?) -> CloudResponse {
        let epoch = failure.epoch ?? ""
        switch failure.code {
        case .timelineLost:
            coverage.note(.timelineLost)
            return fail(.timelineLost(epoch: epoch, zoneID: failure.zoneID))
        case .anotherZone:
            return fail(.anotherZone(epoch: epoch, zoneID: failure.zoneID))
        default:
            let isOtherEpoch = since.flatMap { ChangeToken($0) }?.epoch != epoch
            coverage.note(isOtherEpoch ? .tokenExpiredEpoch : .tokenExpiredFloor)
            return fail(.changeTokenExpired(epoch: epoch, zoneID: failure.zoneID))
        }
    }
}
