import Domain
import GRDB

struct OutboxEntry {
    var record: Int64
    /// Name of the property; '' for the record's deletion.
    var property: String
    var stamp: Stamp
    var boot: String?
    var sinceBoot: Int64?
    var isTold: Bool

    static let columns =
        "record, property, stamp_ms, stamp_counter, stamp_host, boot, since_boot_ms, is_told"

    init(_ row: Row) throws {
        record = row[0]
        property = row[1]
        stamp = try Stamp(row, at: 2)
        boot = row[5]
        sinceBoot = row[6]
        isTold = row[7]
    }

    /// Returns whether a corrected clock may still change the stamp (`SyncRepository.correct`): only for unsent changes
    /// since the last boot.
    func isMovable(in boot: String?) -> Bool { boot != nil && self.boot == boot && sinceBoot != nil && !isTold }
}

extension SettingsTransaction {
    /// Removes a property's outbox entry, if any; '' for the record's deletion.
    func drop(_ property: String, of row: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM outbox WHERE record = ? AND property = ?").run(row, property)
    }

    func waits(_ row: Int64) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM outbox WHERE record = ? LIMIT 1")
        return try Int.fetchOne(statement.bound(row)) != nil
    }

    func pending(of row: Int64) throws -> [OutboxEntry] {
        let statement = try db.cachedStatement(sql: "SELECT \(OutboxEntry.columns) FROM outbox WHERE record = ?")
        return try Row.fetchAll(statement.bound(row)).map { try OutboxEntry($0) }
    }

    /// Adds a merge's changes to the outbox, except those that it already contains.
    ///
    /// - Parameter sinceBoot: time of writing; nil for other hosts' changes, whose stamps do not depend on this host's
    ///   clock.
    mutating func tell(_ merge: RecordMerge, written sinceBoot: MonotonicTime? = nil) throws {
        guard !merge.isEmpty else { return }
        let row = try makeRow(of: merge.after.key)
        let type = merge.after.key.type
        let deletion = merge.deletionIsNews ? merge.after.deletion.map { [("", $0.stamp)] } : nil
        let registers = merge.newRegisters.map { ($0.property, $0.register.stamp) }
        try queue((deletion ?? []) + registers, of: row, type, written: sinceBoot)
    }

    private static let insert = InsertOfRows(
        "INSERT INTO outbox (record, property, type, stamp_ms, stamp_counter, stamp_host, boot, since_boot_ms)",
        columns: 8, "ON CONFLICT (record, property) DO NOTHING")

    /// Adds properties of one record to the outbox; '' for its deletion.
    mutating func queue(
        _ entries: [(property: String, stamp: Stamp)], of row: Int64, _ type: RecordType,
        written sinceBoot: MonotonicTime?
    ) throws {
        hasWaiting = true
        let boot = sinceBoot == nil ? nil : boot
        let before = db.totalChangesCount
        try Self.insert.run(entries, db) { property, stamp in
            (
                row, property, type.rawValue, Int64(stamp.milliseconds), Int64(stamp.counter), stamp.host.description,
                boot, sinceBoot?.sinceOrigin.milliseconds
            )
        }
        if db.totalChangesCount > before { try stopHoldingBack(row) }
    }

    /// Replaces the stamp of an entry, and of its property or deletion.
    func move(_ entry: OutboxEntry, to stamp: Stamp) throws {
        if entry.property.isEmpty {
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE record SET deleted_ms = ?, deleted_counter = ?, deleted_host = ?, deletion_brought_by = NULL
                    WHERE id = ?
                    """)
            try statement.run(stamp.columns + [entry.record])
        } else {
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE register SET stamp_ms = ?, stamp_counter = ?, stamp_host = ?, brought_by = NULL
                    WHERE record = ? AND property = ?
                    """)
            try statement.run(stamp.columns + [entry.record, entry.property])
        }
        let statement = try db.cachedStatement(
            sql: """
                UPDATE outbox SET stamp_ms = ?, stamp_counter = ?, stamp_host = ?, is_told = 0
                WHERE record = ? AND property = ?
                """)
        try statement.run(stamp.columns + [entry.record, entry.property])
        try moveHistory(entry, to: stamp)
    }

    private func moveHistory(_ entry: OutboxEntry, to stamp: Stamp) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE history SET by_ms = ?, by_counter = ?, by_host = ?, by_brought_by = NULL
                WHERE (type, name) = (SELECT type, name FROM record WHERE id = ?)
                    AND by_ms = ? AND by_counter = ? AND by_host = ?
                """)
        try statement.run(stamp.columns + [entry.record] + entry.stamp.columns)
    }

    /// Returns all entries of the outbox, ordered by stamp.
    func allPending() throws -> [OutboxEntry] {
        try Row.fetchAll(
            db, sql: "SELECT \(OutboxEntry.columns) FROM outbox ORDER BY stamp_ms, stamp_counter, stamp_host"
        ).map { try OutboxEntry($0) }
    }
}
