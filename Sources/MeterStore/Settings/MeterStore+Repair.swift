package import Domain
import GRDB
package import Gateway
import Synchronization

// Repairs after a change of cloud or a wrong system clock, and clean-up by age.

extension MeterStore {
    package func restamp(from physical: UInt64) async throws(StoreError) {
        try await changeSettings { transaction in try transaction.restamp(from: physical) }
    }

    package func correct(clockOffset: Duration, at moment: HostMoment) async throws(StoreError) {
        let now = ClockAnchor(wall: moment.wall + clockOffset, sinceBoot: moment.sinceBoot)
        anchor.withLock { $0 = now }
        // Usually there is nothing to do. Then do not wait for the disk.
        let boot = boot
        guard boot != nil, try await access("read", { db in try now.isNews(to: db, boot: boot) }) else { return }
        try await changeSettings { transaction in try transaction.correct(now) }
    }

    package func cleanUp(now: WallTime) async throws(StoreError) {
        try await changeSettings { transaction in
            let old = now + .seconds(-90 * 86_400)
            try transaction.db.execute(
                sql: """
                    DELETE FROM history WHERE learned_ms < ?1
                        AND \(StoreSchema.isUndoubted(from: "learned_ms", to: "learned_ms", cutoff: "?1"))
                    """, arguments: [old.millisecondsSince1970])
            try transaction.db.execute(
                sql: """
                    DELETE FROM history WHERE id <= (
                        SELECT id FROM history ORDER BY id DESC LIMIT 1 OFFSET \(SettingsTransaction.historyMax))
                    """)
            let expired = now + .seconds(-180 * 86_400)
            try transaction.db.execute(
                sql: """
                    DELETE FROM record WHERE deletion_learned_ms < ?1 AND deleted_ms < ?1
                        AND \(StoreSchema.isUndoubted(
                            from: "deletion_learned_ms", to: "deletion_learned_ms", cutoff: "?1"))
                        AND NOT EXISTS (SELECT 1 FROM register WHERE record = record.id)
                        AND NOT EXISTS (SELECT 1 FROM outbox WHERE record = record.id)
                    """, arguments: [expired.millisecondsSince1970])
        }
    }
}

extension SettingsTransaction {
    func queueEverything() throws {
        try queueAll(where: "1", [])
    }

    mutating func queueAll(of key: RecordKey) throws -> Int {
        guard let row = try row(of: key) else { return 0 }
        let before = try pending(of: row).count
        try queueAll(where: "record.id = ?", [row])
        try stopHoldingBack(row)
        return try pending(of: row).count - before
    }

    /// Adds the matching values and deletions to the outbox with their old stamps.
    private func queueAll(where condition: String, _ arguments: StatementArguments) throws {
        let columns = """
            INSERT INTO outbox (record, property, type, stamp_ms, stamp_counter, stamp_host)
            """
        try db.execute(
            sql: """
                \(columns)
                SELECT record, property, type, stamp_ms, stamp_counter, stamp_host
                FROM register JOIN record ON record.id = register.record WHERE \(condition)
                ON CONFLICT (record, property) DO NOTHING
                """, arguments: arguments)
        try db.execute(
            sql: """
                \(columns)
                SELECT id, '', type, deleted_ms, deleted_counter, deleted_host
                FROM record WHERE deleted_ms IS NOT NULL AND \(condition)
                ON CONFLICT (record, property) DO NOTHING
                """, arguments: arguments)
    }
}

// MARK: - A wrong clock

extension SettingsTransaction {
    /// Replaces future stamps in the outbox by stamps from `physical` (milliseconds since 1970) on, and lowers the
    /// hybrid clock.
    mutating func restamp(from physical: UInt64) throws {
        // Use only half of the cloud's tolerance: the cloud may have accepted later stamps in a request whose answer
        // was lost.
        let limit = StampLimit.latest(now: physical, accepted: 0) - StampLimit.ahead / 2
        let latest = max(limit, host.cloudMark.milliseconds)
        let waiting = try allPending()
        try move(
            waiting, waiting.map { .init(stamp: $0.stamp, physical: $0.stamp.milliseconds > latest ? physical : nil) })
    }

    /// Returns all changes in the outbox. A change's time of writing is known only if it was made since the last boot
    /// and never sent.
    func timesOfWriting(_ now: ClockAnchor) throws -> [(entry: OutboxEntry, waiting: HybridClock.Waiting)] {
        try allPending().map { entry in
            guard entry.isMovable(in: boot), let sinceBoot = entry.sinceBoot else {
                return (entry, HybridClock.Waiting(stamp: entry.stamp, physical: nil))
            }
            let made = now.time(at: MonotonicTime(sinceOrigin: .milliseconds(sinceBoot)))
            return (entry, HybridClock.Waiting(stamp: entry.stamp, made: UInt64(clamping: made.millisecondsSince1970)))
        }
    }

    /// Corrects wrong stamps of unsent changes to their time of writing.
    mutating func correct(_ now: ClockAnchor) throws {
        let times = try timesOfWriting(now)
        try move(times.map(\.entry), times.map(\.waiting))
        // Check all deletions: even one with a right stamp may have got a later stamp, because it must follow earlier
        // changes.
        for time in times where time.entry.property.isEmpty { try hideDeleted(in: time.entry.record) }
    }

    private mutating func move(_ entries: [OutboxEntry], _ waiting: [HybridClock.Waiting]) throws {
        let stamps = host.clock.restamp(waiting, accepted: host.cloudMark)
        for (entry, stamp) in zip(entries, stamps) {
            if let stamp { try move(entry, to: stamp) }
        }
    }

    /// Removes the record's properties that are older than its deletion, whose stamp may have changed.
    private mutating func hideDeleted(in row: Int64) throws {
        guard let deletion = try deletion(of: row),
            let name = try Row.fetchOne(db, sql: "SELECT type, name FROM record WHERE id = ?", arguments: [row])
        else { return }
        let key = RecordKey(type: RecordType(rawValue: name[0]), name: name[1])
        for (property, register) in try registers(of: row).sorted(by: { $0.key < $1.key })
        where register.stamp <= deletion.stamp {
            try remove(property, of: row)
            let value = OverwrittenValue(
                property: property, old: register, new: nil, by: deletion.stamp, broughtBy: deletion.broughtBy)
            try remember([value], of: key)
        }
    }
}

extension ClockAnchor {
    /// Returns whether the stamp of any unsent change is wrong by more than `StampLimit.ahead`.
    fileprivate func isNews(to db: Database, boot: String?) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT 1 FROM outbox WHERE boot = ? AND is_told = 0 AND abs(stamp_ms - (since_boot_ms + ?)) > ? LIMIT 1
                """)
        let start = wall + (.zero - sinceBoot.sinceOrigin)
        return try Row.fetchOne(
            statement, arguments: [boot, start.millisecondsSince1970, Int64(StampLimit.ahead)]) != nil
    }
}
