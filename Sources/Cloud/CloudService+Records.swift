package import CloudAPI
import Domain
import Logging
import Synchronization

extension CloudService {
    /// Stores records. Accepts or refuses each record separately, with a reason in its result. A read-only host may
    /// only change its own `Host`.
    ///
    /// - Throws: `limitExceeded` for more records than `CloudLimits.recordsPerBatch`.
    package func modify(
        _ request: ModifyRequest, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> ModifyAnswer {
        let member = try member(principal, of: zone)
        guard request.records.count <= CloudLimits.recordsPerBatch else {
            throw CloudFailure(
                .limitExceeded,
                "\(request.records.count) records are too many for one request; send \(CloudLimits.recordsPerBatch)")
        }
        var batch = RecordBatch(request.records.map { $0.brought(by: member.host) })
        if principal.credential.role == .readOnly {
            batch.refuseOthers(than: RecordKey(type: .host, name: member.host.description))
        }
        try await keepHostsOwn(&batch, from: member, in: zone)
        for index in batch.accepted { try await prepare(&batch, index, in: zone) }
        let now = clock.wallNow()
        var changed: Set<RecordType> = []
        for step in [\RecordBatch.toStore, \.toStoreAfter] {
            let (records, places) = batch[keyPath: step]
            guard !records.isEmpty else { continue }
            let outcomes = try await ask {
                try await engine.modify(records, in: zone, now: now, leaseTime: clock.now())
            }
            changed.formUnion(batch.enter(outcomes, at: places, now: now, zone: zone))
        }
        if !changed.isEmpty {
            // Folded records (moved to their canonical names) are new to the writer too, so notify it as well.
            hub.tellChange(of: Self.inSyncOrder(changed), by: batch.hasFolds ? nil : member.host, in: zone)
        }
        return ModifyAnswer(results: batch.results, serverTime: now.millisecondsSince1970)
    }

    private static func inSyncOrder(_ types: Set<RecordType>) -> [String] {
        let known = RecordType.known.filter(types.contains)
        return (known + types.subtracting(known).sorted { $0.rawValue < $1.rawValue }).map(\.rawValue)
    }

    /// Accepts the record about an enrolled host only from that host. Another host's copy may be a legitimate re-push,
    /// so its result is the stored record, not an error.
    private func keepHostsOwn(
        _ batch: inout RecordBatch, from member: Member, in zone: String
    ) async throws(CloudFailure) {
        let others = batch.accepted.filter { index in
            let key = batch.records[index].key
            return key.type == .host && HostID(key.name).map { $0 != member.host } ?? false
        }
        guard !others.isEmpty else { return }
        let enrolled = Set(
            try await ask { try await engine.credentials(in: zone) }
                .filter { $0.kind == .host && $0.revokedAt == nil }.compactMap(\.binding?.host))
        for index in others {
            let key = batch.records[index].key
            guard let owner = HostID(key.name), enrolled.contains(owner) else { continue }
            batch.answer(index, with: try await ask { try await engine.record(key, in: zone) })
        }
    }

    private func prepare(_ batch: inout RecordBatch, _ index: Int, in zone: String) async throws(CloudFailure) {
        let record = batch.records[index]
        if record.key.normalised != record.key {
            let stored = try await ask { try await engine.record(record.key, in: zone) }
            let canonical = try await ask { try await engine.record(record.key.normalised, in: zone) }
            batch.fold(index) { $0 == record.key ? stored : canonical }
        }
    }

    /// - Parameters:
    ///   - since: nil to read from the very beginning.
    ///   - limit: at most `CloudLimits.recordsPerPage`, which is also the default.
    /// - Throws: `changeTokenExpired`, `timelineLost`, `anotherZone`, `badRequest`.
    package func changes(
        type: String, since: String?, limit: Int?, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> ChangesBody {
        _ = try member(principal, of: zone)
        var token: ChangeToken?
        if let since {
            guard let read = ChangeToken(since) else {
                throw CloudFailure(
                    .badRequest, "\"\(since)\" is not a change token of this cloud; send it as it was given")
            }
            token = read
        }
        guard let limit = Self.pageLength(limit) else {
            throw CloudFailure(.badRequest, "a page has 1 to \(CloudLimits.recordsPerPage) records")
        }
        let after = token
        let list: ChangeList
        do throws(CloudFailure) {
            list = try await ask {
                try await engine.changes(of: RecordType(rawValue: type), in: zone, after: after, limit: limit)
            }
        } catch {
            if error.code == .timelineLost { sayThatTheStoreWentBack(zone, token: after) }
            throw error
        }
        return ChangesBody(
            page: list.page, changeToken: list.token.description, moreComing: list.moreComing,
            epoch: list.token.epoch, zoneID: list.zoneID.description)
    }

    /// Logs once per run that the store was reset to an earlier state. Only logs, because a host may have invented its
    /// change token.
    private func sayThatTheStoreWentBack(_ zone: String, token: ChangeToken?) {
        guard saidThatTheStoreWentBack.exchange(true, ordering: .relaxed) == false else { return }
        logger.error(
            "store is older than its hosts' data: hosts send the missing changes",
            metadata: ["zone": "\(zone)", "token": "\(token?.description ?? "-")"])
    }

    private static func pageLength(_ wish: Int?) -> Int? {
        guard let wish else { return CloudLimits.recordsPerPage }
        return wish < 1 ? nil : min(wish, CloudLimits.recordsPerPage)
    }
}
