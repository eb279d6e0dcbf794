package import Domain
import GRDB
package import Gateway
import Synchronization

extension MeterStore: SyncRepository {
    package func progress() async throws(StoreError) -> SyncProgress {
        // Use the cache: open web pages request the progress often, but only writes change it.
        if let known = knownProgress.withLock(\.self) { return known }
        return try await access("read") { db in
            let membership = try MembershipRow(db)
            var progress = SyncProgress(
                epoch: try HostRow(db).epoch, zone: membership.zone, zoneName: membership.zoneName)
            progress.record = membership.record
            progress.visits = try MembershipRow.visits(db)
            let types = try db.cachedStatement(sql: "SELECT type, token, is_refetching, cursor FROM progress")
            for row in try Row.fetchAll(types) {
                let type = RecordType(rawValue: row[0])
                let isRefetching: Bool = row[2]
                if isRefetching { progress.refetching.insert(type) }
                let token: String? = isRefetching ? row[3] : row[1]
                progress.tokens[type] = token
            }
            func count(_ table: String) throws -> Int {
                try Int.fetchOne(try db.cachedStatement(sql: "SELECT count(*) FROM \(table)")) ?? 0
            }
            progress.pending = try count("outbox")
            progress.heldBack = try SettingsTransaction.heldBackCount(db)
            progress.parked = try count("parked") + count("aside")
            self.knownProgress.withLock { $0 = progress }
            return progress
        }
    }

    package func nextBatch(
        recordsMax: Int, bytesMax: Int, of only: RecordKey?
    ) async throws(StoreError) -> OutboxBatch? {
        let boot = boot
        // Not durable, because the flag `is_told` of sent changes has no effect after the next boot
        // (`OutboxEntry.isMovable`).
        return try await transaction { db in
            var transaction = try SettingsTransaction(db, learned: nil, boot: boot)
            return try transaction.nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: only)
        }
    }

    package func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws(StoreError) -> MergeOutcome {
        try await changeSettings { transaction in
            let sent = Dictionary(batch.records.map { ($0.key, $0) }) { $0.merged(with: $1) }
            for answer in outcome.results {
                guard let record = sent[answer.key] else { continue }
                if let failure = answer.failure {
                    let isAlone = batch.records.count == 1
                    try transaction.refuse(record, failure, isAlone: isAlone)
                } else {
                    try transaction.accept(record)
                }
                if let merged = answer.merged { try transaction.take(merged) }
            }
            return try transaction.finished()
        }
    }

    package func apply(_ page: ChangesPage) async throws(StoreError) -> MergeOutcome {
        let path = path
        return try await changeSettings(isOneOfMany: page.moreComing) { transaction in
            if let epoch = transaction.host.epoch, epoch != page.epoch {
                throw StoreError(
                    .system,
                    "a page of the cloud's store \(page.epoch) cannot be merged into \(path), which follows \(epoch): "
                        + "it has to be adopted first")
            }
            try transaction.checkZone(of: page, path: path)
            transaction.host.epoch = page.epoch
            let refetch = try transaction.refetch(of: page.type)
            for record in page.records {
                if refetch != nil { try transaction.setAsideWhatIsNotListed(record) }
                try transaction.take(record)
                try transaction.confirm(by: record)
            }
            try transaction.advance(page, refetch: refetch)
            return try transaction.finished()
        }
    }

    package func beginRefetch(of type: RecordType) async throws(StoreError) {
        try await changeSettings { transaction in try transaction.beginRefetch(of: type) }
    }
}

// MARK: - The cloud's answers

extension SettingsTransaction {
    /// Throws for a page of changes from another zone, because its change token has no meaning in this zone.
    func checkZone(of page: ChangesPage, path: String) throws {
        guard let zone = page.zoneID, let known = try MembershipRow(db).zone, known != zone else { return }
        throw StoreError(
            .system,
            "a page of the zone \(zone) cannot be merged into \(path), which follows \(known): it has to be joined first"
        )
    }

    /// Removes an accepted record from the outbox, except properties written again after sending.
    mutating func accept(_ sent: SyncRecord) throws {
        observe(cloud: sent.newestStamp)
        guard let row = try row(of: sent.key) else { return }
        let statement = try db.cachedStatement(
            sql: """
                DELETE FROM outbox WHERE record = ? AND property = ?
                    AND stamp_ms = ? AND stamp_counter = ? AND stamp_host = ?
                """)
        for (property, stamp) in sent.stamps {
            try statement.run([row, property] + stamp.columns)
            try remember(told: property, of: row, stamp)
        }
        try stopHoldingBack(row)
        try unpark(sent, .push)
        // The cloud has the record, so a full resync in progress must not treat it as missing.
        try markSeen(sent.key)
    }

    /// Processes the cloud's refusal. Parks the record (`ParkedRecord`) if the cloud can never accept it unchanged.
    mutating func refuse(_ sent: SyncRecord, _ failure: SyncFailure, isAlone: Bool) throws {
        guard let row = try row(of: sent.key) else { return }
        // The cloud did not store the change, so its stamp may still be corrected.
        let untell = try db.cachedStatement(sql: "UPDATE outbox SET is_told = 0 WHERE record = ? AND property = ?")
        for (property, _) in sent.stamps { try untell.run([row, property]) }
        if failure.kind == .quotaExceeded { try holdBack(row) }
        guard failure.kind.isForGood(isAlone: isAlone) else { return }
        let statement = try db.cachedStatement(
            sql: """
                DELETE FROM outbox WHERE record = ? AND property = ?
                    AND stamp_ms = ? AND stamp_counter = ? AND stamp_host = ?
                """)
        for (property, stamp) in sent.stamps { try statement.run([row, property] + stamp.columns) }
        try park(sent, .push, because: failure.message)
        outcome.parked += 1
    }

    /// Merges a record from the cloud, or parks the record (`ParkedRecord`) if it cannot be stored.
    mutating func take(_ record: SyncRecord) throws {
        observe(cloud: record.newestStamp)
        if let fault = record.fault {
            try park(record, .page, because: fault.description)
            outcome.parked += 1
            return
        }
        // Fetch both records before creating the closure: it cannot change `self`, and a copy of `self` would copy all
        // cached rows.
        let normal = record.key.normalised
        let present = try self.record(record.key)
        let canonical = normal == record.key ? nil : try self.record(normal)
        let ingest = Ingest(record) { $0 == record.key ? present : canonical }
        let merges = ingest.merges
        for merge in merges { try store(merge) }
        let mergesToTell = ingest.mergesToTell
        // Do not resend a refused record each time a page contains it.
        let isRefused = try ingest.fold == nil && !mergesToTell.isEmpty && isParked(record.key)
        if !isRefused {
            for merge in mergesToTell { try tell(merge) }
        }
        if let fold = ingest.fold { try remember(fold.outdone, of: normal) }
        try markSeen(record.key)
        try unpark(record, .page)
        try outdateAside(record)
        outcome.news += merges.compactMap { RecordNews($0) }
        if merges.isEmpty { outcome.unchanged += 1 }
    }
}

extension SyncFailure.Kind {
    /// Returns whether the cloud can never accept the record. `limitExceeded` counts only for a record sent alone.
    fileprivate func isForGood(isAlone: Bool) -> Bool {
        switch self {
        case .badRequest, .permissionDenied: true
        case .limitExceeded: isAlone
        default: false
        }
    }
}

extension SyncRecord {
    /// Stamps by property; the empty property is the deletion.
    var stamps: [(property: String, stamp: Stamp)] {
        (deletion.map { [("", $0.stamp)] } ?? [])
            + properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value.stamp) }
    }
}
