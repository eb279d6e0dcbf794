import CloudAPI
import LeaseCore
import MeterModel
import SettingsCore
import SyncCore

extension SimulatedServer {
    /// More records than these in one batch are refused.
    static let batchRecordsMax = 5
    /// A record with this property is refused for good.
    static let poison = "poison"

    mutating func records(_ call: CloudCall, at time: TrueTime, _ dice: inout SeededDice) -> CloudResponse {
        let member = members[call.host]
        let wall = UInt64(clamping: clock.wall(at: time).millisecondsSince1970)
        if case .createZone = call.request {
            store.commit { $0.hasZone = true }
            coverage.note(.zoneCreated)
            return .done
        }
        guard store.value.hasZone else { return fail(.zoneNotFound) }
        switch call.request {
        case .account:
            return .account(
                CloudAccount(
                    zone: "home", host: member.id, hostName: member.name, serverTime: wall, epoch: store.value.epoch,
                    policy: terms.policy.rawValue))
        case .modify(let batch): return modify(batch, by: member, wall: wall, at: time, &dice)
        case .changes(let type, let since, let limit):
            guard let page = store.value.changes(of: type, since: since, limit: limit) else {
                let isOtherEpoch = since.flatMap { ChangeToken($0) }?.epoch != store.value.epoch
                coverage.note(isOtherEpoch ? .tokenExpiredEpoch : .tokenExpiredFloor)
                return fail(.changeTokenExpired(epoch: store.value.epoch))
            }
            return .page(page)
        default: return .done
        }
    }

    private mutating func modify(
        _ batch: OutboxBatch, by member: Member, wall: UInt64, at time: TrueTime, _ dice: inout SeededDice
    ) -> CloudResponse {
        guard batch.records.count <= Self.batchRecordsMax else { return fail(.limitExceeded) }
        let isPoisoned = batch.records.contains { $0.properties[Self.poison] != nil }
        if isPoisoned, dice.happens(onceIn: 2) { return fail(.badRequest) }
        var types: [RecordType] = []
        var results: [PushResult] = []
        for record in batch.records {
            guard record.properties[Self.poison] == nil else {
                coverage.note(.badRequest)
                results.append(PushResult(key: record.key, failure: SyncFailure(.badRequest, "poison")))
                continue
            }
            let merge = merge
            let fate = store.commit { $0.take(record, now: wall, at: time, merge: merge) }
            if fate == .clockSkew {
                coverage.note(.clockSkew)
                results.append(PushResult(key: record.key, failure: SyncFailure(.clockSkew, "too far ahead")))
                continue
            }
            if fate == .changed, !types.contains(record.key.type) { types.append(record.key.type) }
            let stored = store.value.records[record.key]?.record
            results.append(PushResult(key: record.key, merged: stored == record ? nil : stored))
        }
        if !types.isEmpty { tellAll(.changed(types: types, host: member.id)) }
        coverage.note(.pushed, results.count)
        return .pushed(PushOutcome(results: results, serverTime: wall))
    }

    private mutating func fail(_ kind: SyncFailure.Kind) -> CloudResponse {
        note(kind)
        return .failed(SyncFailure(kind, "\(kind)"))
    }
}
