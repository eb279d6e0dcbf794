package import Domain
import GRDB
package import Gateway
import Synchronization

extension MeterStore: SettingsRepository {
    package func hostIdentity() async throws(StoreError) -> HostID {
        try await access("read") { db in try HostRow(db).id }
    }

    package func record(_ key: RecordKey) async throws(StoreError) -> SyncRecord? {
        try await settings { transaction in try transaction.record(key) }
    }

    package func records(of type: RecordType) async throws(StoreError) -> [SyncRecord] {
        try await settings { transaction in try transaction.records(of: type) }
    }

    package func write(_ changes: [SettingChange], at moment: HostMoment) async throws(StoreError) -> MergeOutcome {
        let physical = physicalTime(at: moment)
        let path = path
        return try await changeSettings(learned: moment.wall) { transaction in
            for change in changes {
                try transaction.write(change, physical: physical, sinceBoot: moment.sinceBoot, path: path)
            }
            return try transaction.finished()
        }
    }

    package func delete(_ key: RecordKey, at moment: HostMoment) async throws(StoreError) -> MergeOutcome {
        let physical = physicalTime(at: moment)
        return try await changeSettings(learned: moment.wall) { transaction in
            guard let before = try transaction.record(key), !before.properties.isEmpty else {
                return MergeOutcome(unchanged: 1)
            }
            if let newest = before.newestStamp { transaction.host.clock.observe(newest) }
            let deletion = Deletion(stamp: transaction.host.clock.tick(physical: physical))
            let merge = before.merging(SyncRecord(key: key, deletion: deletion))
            try transaction.store(merge)
            try transaction.tell(merge, written: moment.sinceBoot)
            return try transaction.finished()
        }
    }

    package func history(
        of key: RecordKey, property: String?, limit: Int
    ) async throws(StoreError) -> [HistoryEntry] {
        try await access("read") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT property, kind, value, stamp_ms, stamp_counter, stamp_host, new_kind, new_value,
                        by_ms, by_counter, by_host, learned_ms, brought_by, by_brought_by FROM history
                    WHERE type = ?1 AND name = ?2 AND (?3 IS NULL OR property = ?3) ORDER BY id DESC LIMIT ?4
                    """,
                arguments: [key.type.rawValue, key.name, property, max(limit, 0)]
            ).map { try HistoryEntry(row: $0) }
        }
    }
}

extension SettingsTransaction {
    /// Writes one property as this host's change, under the normal form of its key.
    mutating func write(_ change: SettingChange, physical: UInt64, sinceBoot: MonotonicTime?, path: String) throws {
        let key = change.key.normalised
        let before = try record(key) ?? SyncRecord(key: key)
        // The new stamp must be later than any existing one, even one far in the future.
        if let newest = before.newestStamp { host.clock.observe(newest) }
        let register = Register(value: change.value, stamp: host.clock.tick(physical: physical))
        let merge = before.merging(SyncRecord(key: key, properties: [change.property: register]))
        if let fault = SyncRecord(key: key, properties: [change.property: register]).fault ?? merge.after.fault {
            throw StoreError(.system, "the store \(path) cannot keep this setting: \(fault)")
        }
        guard merge.news == [change.property] else {
            throw StoreError(.system, "the store \(path) cannot stamp this setting: its clock is at the end of time")
        }
        try store(merge)
        try tell(merge, written: sinceBoot)
    }
}

extension HistoryEntry {
    fileprivate init(row: Row) throws {
        let isDeleted = (row[6] as DatabaseValue).isNull
        self.init(
            overwritten: OverwrittenValue(
                property: row[0], old: try Register(row, at: 1, bringer: 12),
                new: isDeleted ? nil : try SettingValue(row, at: 6), by: try Stamp(row, at: 8),
                broughtBy: try HostID(bringer: row[13])),
            at: WallTime(millisecondsSince1970: row[11]))
    }
}

// MARK: - Access

extension MeterStore {
    /// Reads settings. Discards changes that `body` makes to the hybrid clock.
    func settings<Value: Sendable>(
        _ body: @escaping @Sendable (inout SettingsTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        let boot = boot
        return try await access("read") { db in
            var transaction = try SettingsTransaction(db, learned: nil, boot: boot)
            return try body(&transaction)
        }
    }

    /// Changes settings in one durable transaction.
    ///
    /// - Parameter isOneOfMany: whether this is one of several large changes; enlarges cache and log (`tune`).
    func changeSettings<Value: Sendable>(
        learned: WallTime? = nil, isOneOfMany: Bool = false,
        _ body: @escaping @Sendable (inout SettingsTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        let (boot, learned) = (boot, learned ?? calendar?())
        return try await access("written") { [self] db in
            try tune(db, isMuchWritten: isOneOfMany)
            return try db.inDurableTransaction { db in
                let number = transactions.wrappingAdd(1, ordering: .relaxed).newValue
                var transaction = try SettingsTransaction(db, learned: learned, boot: boot, number: number)
                let value = try body(&transaction)
                try transaction.save()
                return value
            }
        }
    }

    func tune(_ db: Database, isMuchWritten: Bool) throws {
        try isTunedForMuch.withLock { isTuned in
            guard isTuned != isMuchWritten else { return }
            try StoreSchema.tune(db, isMuchWritten: isMuchWritten)
            isTuned = isMuchWritten
        }
    }

    /// Returns the cloud's wall-clock time in milliseconds since 1970, or this host's if the cloud's is unknown.
    func physicalTime(at moment: HostMoment) -> UInt64 {
        let wall = anchor.withLock { $0?.time(at: moment.sinceBoot) } ?? moment.wall
        return UInt64(clamping: wall.millisecondsSince1970)
    }
}

/// A time of the cloud's clock, with the time since boot at which it was valid. Later times follow from it without the
/// system clock.
struct ClockAnchor: Sendable {
    var wall: WallTime
    var sinceBoot: MonotonicTime

    func time(at sinceBoot: MonotonicTime) -> WallTime { wall + (sinceBoot - self.sinceBoot) }
}
