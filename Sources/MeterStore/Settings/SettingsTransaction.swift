import Domain
import GRDB
import Gateway

/// The settings' tables within one transaction: this host's identity, hybrid clock and records.
///
/// Identity and clock are saved at the end of the transaction.
struct SettingsTransaction {
    let db: Database
    var host: HostRow
    /// Time at which this host received or wrote the transaction's values, by its wall clock.
    let learned: WallTime
    /// Id of the machine's current boot, if known.
    let boot: String?
    /// Cached ids in the table `record`; nil for a missing record.
    private var rows: [RecordKey: Int64?] = [:]
    var outcome = MergeOutcome()
    private var changed: [RecordKey: SyncRecord] = [:]
    /// Cached numbers of the types' current full resyncs; nil if none is in progress.
    var refetches: [RecordType: Int64?] = [:]
    /// Whether there are parked records (`ParkedRecord`); nil if not queried yet.
    var hasParked: Bool?
    var hasAside: Bool?
    var hasTold: Bool?
    var hasWaiting: Bool?
    var hasHeldBack: Bool?

    /// - Parameter number: `MergeOutcome.number`; 0 for a read-only transaction.
    init(_ db: Database, learned: WallTime?, boot: String?, number: UInt64 = 0) throws {
        self.db = db
        self.boot = boot
        host = try HostRow(db)
        // Without a wall clock, the time of the hybrid clock is a good approximation.
        self.learned = learned ?? WallTime(millisecondsSince1970: Int64(host.clock.milliseconds))
        outcome.number = number
    }

    func save() throws { try host.save(db) }

    mutating func report(_ record: SyncRecord) {
        if changed.updateValue(record, forKey: record.key) == nil { outcome.changed.append(record.key) }
    }

    func finished() throws -> MergeOutcome {
        var outcome = outcome
        outcome.present = outcome.changed.filter { $0.type == .deviceSettings }.compactMap { changed[$0] }
        if outcome.changed.contains(where: { $0.type == .meterAlias }) {
            outcome.present += try records(of: .meterAlias)
        }
        return outcome
    }

    /// Advances the hybrid clock past a stamp from the cloud.
    mutating func observe(cloud stamp: Stamp?) {
        guard let stamp else { return }
        host.clock.observe(stamp)
        if (stamp.milliseconds, stamp.counter) > (host.cloudMark.milliseconds, host.cloudMark.counter) {
            host.cloudMark = stamp
        }
    }
}

// MARK: - Records

extension SettingsTransaction {
    mutating func row(of key: RecordKey) throws -> Int64? {
        if let row = rows[key] { return row }
        let statement = try db.cachedStatement(sql: "SELECT id FROM record WHERE type = ? AND name = ?")
        let row = try Int64.fetchOne(statement.bound(key.type.rawValue, key.name))
        rows.updateValue(row, forKey: key)
        return row
    }

    mutating func makeRow(of key: RecordKey) throws -> Int64 {
        if let row = try row(of: key) { return row }
        try db.cachedStatement(sql: "INSERT INTO record (type, name) VALUES (?, ?)").run(key.type.rawValue, key.name)
        let row = db.lastInsertedRowID
        rows.updateValue(row, forKey: key)
        return row
    }

    mutating func record(_ key: RecordKey) throws -> SyncRecord? {
        if case .some(nil) = rows[key] { return nil }
        let statement = try db.cachedStatement(
            sql: "SELECT \(Deletion.columns), id FROM record WHERE type = ? AND name = ?")
        guard let found = try Row.fetchOne(statement.bound(key.type.rawValue, key.name)) else {
            rows.updateValue(nil, forKey: key)
            return nil
        }
        let row: Int64 = found[5]
        rows.updateValue(row, forKey: key)
        return SyncRecord(key: key, properties: try registers(of: row), deletion: try Deletion(found, at: 0))
    }

    func records(of type: RecordType) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        var (key, registers, deletion) = (RecordKey?.none, [String: Register](), Deletion?.none)
        func finish() {
            if let key { records.append(SyncRecord(key: key, properties: registers, deletion: deletion)) }
        }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT name, \(Deletion.columns), property, kind, value, stamp_ms, stamp_counter, stamp_host,
                    brought_by
                FROM record LEFT JOIN register ON register.record = record.id WHERE type = ? ORDER BY name
                """, arguments: [type.rawValue])
        while let row = try rows.next() {
            let name: String = row[0]
            if key?.name.utf8.elementsEqual(name.utf8) != true {
                finish()
                (key, registers) = (RecordKey(type: type, name: name), [:])
                deletion = try Deletion(row, at: 1)
            }
            guard let property: String = row[6] else { continue }
            registers[property] = try Register(row, at: 7, bringer: 12)
        }
        finish()
        return records
    }

    func registers(of row: Int64) throws -> [String: Register] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT property, kind, value, stamp_ms, stamp_counter, stamp_host, brought_by
                FROM register WHERE record = ?
                """)
        let rows = try Row.fetchCursor(statement.bound(row))
        var registers: [String: Register] = [:]
        while let row = try rows.next() {
            registers[row[0]] = try Register(row, at: 1, bringer: 6)
        }
        return registers
    }

    func deletion(of row: Int64) throws -> Deletion? {
        let statement = try db.cachedStatement(sql: "SELECT \(Deletion.columns) FROM record WHERE id = ?")
        return try Row.fetchOne(statement.bound(row)).flatMap { try Deletion($0, at: 0) }
    }

    /// Writes and reports a merge's changes. Removes outdated changes from the outbox; adds overwritten values to the
    /// history.
    mutating func store(_ merge: RecordMerge) throws {
        guard !merge.isEmpty else { return }
        let isNew = try row(of: merge.after.key) == nil
        let row = try makeRow(of: merge.after.key)
        let waits = try !isNew && self.waits(row)
        let registers = merge.newRegisters
        try write(registers, of: row)
        if waits { for (property, _) in registers { try drop(property, of: row) } }
        try removeWhatIsGone(merge, of: row, waits: waits)
        if merge.deletionIsNews, let deletion = merge.after.deletion {
            try write(deletion, of: row)
            if waits { try drop("", of: row) }
        }
        try remember(merge.overwritten, of: merge.after.key)
        report(merge.after)
    }

    private func removeWhatIsGone(_ merge: RecordMerge, of row: Int64, waits: Bool) throws {
        let (before, after) = (merge.before.properties, merge.after.properties)
        guard !before.isEmpty else { return }
        if after.isEmpty { try db.cachedStatement(sql: "DELETE FROM register WHERE record = ?").run(row) }
        for property in before.keys where after[property] == nil {
            if !after.isEmpty { try removeRegister(property, of: row) }
            if waits { try drop(property, of: row) }
        }
    }

    private static let registerInsert = InsertOfRows(
        "INSERT INTO register (record, property, kind, value, stamp_ms, stamp_counter, stamp_host, brought_by)",
        columns: 8,
        """
        ON CONFLICT (record, property) DO UPDATE SET
            kind = excluded.kind, value = excluded.value, stamp_ms = excluded.stamp_ms,
            stamp_counter = excluded.stamp_counter, stamp_host = excluded.stamp_host,
            brought_by = excluded.brought_by
        """)

    private func write(_ registers: [(property: String, register: Register)], of row: Int64) throws {
        try Self.registerInsert.run(registers, db) { property, register in
            let (value, stamp) = (register.value, register.stamp)
            return (
                row, property, value.kind, value.content, Int64(stamp.milliseconds), Int64(stamp.counter),
                stamp.host.description, register.broughtBy?.description
            )
        }
    }

    /// Writes the deletion; nil erases an existing one.
    func write(_ deletion: Deletion?, of row: Int64) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE record SET deleted_ms = ?, deleted_counter = ?, deleted_host = ?, merged_into = ?,
                    deletion_learned_ms = ?, deletion_brought_by = ? WHERE id = ?
                """)
        let stamp = deletion?.stamp
        try statement.run(
            stamp.map { Int64($0.milliseconds) }, stamp.map { Int64($0.counter) }, stamp?.host.description,
            deletion?.mergedInto, deletion == nil ? nil : learned.millisecondsSince1970,
            deletion?.broughtBy?.description, row)
    }

    func remove(_ property: String, of row: Int64) throws {
        try removeRegister(property, of: row)
        try drop(property, of: row)
    }

    private func removeRegister(_ property: String, of row: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM register WHERE record = ? AND property = ?").run(row, property)
    }

    /// Erases the record. Throws if part of it is unsent.
    mutating func forget(_ row: Int64, _ key: RecordKey) throws {
        try db.cachedStatement(sql: "DELETE FROM record WHERE id = ?").run(row)
        rows.updateValue(nil, forKey: key)
    }
}

// MARK: - History

extension SettingsTransaction {
    static let historyPerProperty = 100
    /// Maximum number of values in the history of all records; the clean-up enforces it.
    static let historyMax = 100_000

    func remember(_ values: [OverwrittenValue], of key: RecordKey) throws {
        guard !values.isEmpty else { return }
        try insert(values, of: key)
        // Trim only if needed: a property can exceed its limit only if its record's history is longer than that limit.
        let look = try db.cachedStatement(
            sql: "SELECT 1 FROM history WHERE type = ? AND name = ? LIMIT 1 OFFSET \(Self.historyPerProperty)")
        guard try Int.fetchOne(look.bound(key.type.rawValue, key.name)) != nil else { return }
        let bound = try db.cachedStatement(
            sql: """
                DELETE FROM history WHERE type = ?1 AND name = ?2 AND property = ?3 AND id <= (
                    SELECT id FROM history WHERE type = ?1 AND name = ?2 AND property = ?3
                    ORDER BY id DESC LIMIT 1 OFFSET \(Self.historyPerProperty))
                """)
        for value in values { try bound.run(key.type.rawValue, key.name, value.property) }
    }

    private static let historyInsert = InsertOfRows(
        """
        INSERT INTO history (type, name, property, kind, value, stamp_ms, stamp_counter, stamp_host,
            new_kind, new_value, by_ms, by_counter, by_host, learned_ms, brought_by, by_brought_by)
        """, columns: 16)

    private func insert(_ values: [OverwrittenValue], of key: RecordKey) throws {
        try Self.historyInsert.run(values, db) { value in
            let (old, by) = (value.old, value.by)
            return (
                key.type.rawValue, key.name, value.property, old.value.kind, old.value.content,
                Int64(old.stamp.milliseconds), Int64(old.stamp.counter), old.stamp.host.description, value.new?.kind,
                value.new?.content, Int64(by.milliseconds), Int64(by.counter), by.host.description,
                learned.millisecondsSince1970, old.broughtBy?.description, value.broughtBy?.description
            )
        }
    }
}
