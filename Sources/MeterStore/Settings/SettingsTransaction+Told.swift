import Domain
import GRDB

// The cloud's store may be rolled back after it accepted a change, and nothing else reveals the loss
// (Docs/Decisions/0016; found with the model in Tests/Models). So the host remembers sent changes until the cloud lists
// them. If a fetch that began after the cloud's answer lacks a sent change, the host resends it once.

extension SettingsTransaction {
    /// Remembers that the cloud accepted a property ('' for the deletion) with this stamp.
    func remember(told property: String, of row: Int64, _ stamp: Stamp) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO told (record, property, stamp_ms, stamp_counter, stamp_host) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (record, property) DO UPDATE SET
                    stamp_ms = excluded.stamp_ms, stamp_counter = excluded.stamp_counter,
                    stamp_host = excluded.stamp_host, is_awaited = 0, is_repeated = is_repeated AND
                    (stamp_ms, stamp_counter, stamp_host)
                        = (excluded.stamp_ms, excluded.stamp_counter, excluded.stamp_host)
                """)
        try statement.run(
            row, property, Int64(stamp.milliseconds), Int64(stamp.counter), stamp.host.description)
    }

    /// Deletes the entries of sent changes (table `told`) that the record lists or outdates. Also removes unsent values
    /// that equal listed ones, as most do after a restore. Equal stamps alone are not sufficient, because copies of one
    /// SD card may stamp two values equally.
    mutating func confirm(by listed: SyncRecord) throws {
        if hasWaiting == nil { hasWaiting = try Int.fetchOne(db, sql: "SELECT 1 FROM outbox LIMIT 1") != nil }
        if hasWaiting == true, let row = try row(of: listed.key) {
            let waiting = try pending(of: row).filter { listed.stamp(of: $0.property) == $0.stamp }
            let own = waiting.isEmpty ? [:] : try registers(of: row)
            for entry in waiting where own[entry.property]?.value == listed.properties[entry.property]?.value {
                try drop(entry.property, of: row)
            }
        }
        if hasTold == nil { hasTold = try Int.fetchOne(db, sql: "SELECT 1 FROM told LIMIT 1") != nil }
        guard hasTold == true, let row = try row(of: listed.key) else { return }
        for (property, stamp) in try told(of: row) where listed.has(property, asNewAs: stamp) {
            try forgetTold(property, of: row)
        }
    }

    /// Resends changes that the finished fetch did not list, if they were sent before it began. Forgets a resent change
    /// that is not listed either: the cloud lists only writes that change something, so it has the change.
    ///
    /// - Returns: number of resent properties and deletions.
    mutating func repeatTold(of type: RecordType) throws -> Int {
        let unlisted = try Row.fetchAll(
            try db.cachedStatement(
                sql: """
                    SELECT told.record, told.property, told.stamp_ms, told.stamp_counter, told.stamp_host, is_awaited,
                        is_repeated
                    FROM told JOIN record ON record.id = told.record
                    WHERE record.type = ? AND NOT EXISTS (
                        SELECT 1 FROM outbox WHERE outbox.record = told.record AND outbox.property = told.property)
                    """), arguments: [type.rawValue])
        var repeated = 0
        for entry in unlisted {
            let (row, property, isAwaited, isRepeated): (Int64, String, Bool, Bool) = (
                entry[0], entry[1], entry[5], entry[6]
            )
            let stamp = try Stamp(entry, at: 2)
            let stands = try property.isEmpty ? deletion(of: row)?.stamp : registers(of: row)[property]?.stamp
            if stands != stamp || isAwaited && isRepeated {
                try forgetTold(property, of: row)
            } else if isAwaited {
                try queue([(property, stamp)], of: row, type, written: nil)
                try db.cachedStatement(
                    sql: "UPDATE told SET is_awaited = 0, is_repeated = 1 WHERE record = ? AND property = ?"
                ).run([row, property])
                repeated += 1
            } else {
                try db.cachedStatement(sql: "UPDATE told SET is_awaited = 1 WHERE record = ? AND property = ?")
                    .run([row, property])
            }
        }
        return repeated
    }

    func told(of row: Int64) throws -> [(property: String, stamp: Stamp)] {
        let statement = try db.cachedStatement(
            sql: "SELECT property, stamp_ms, stamp_counter, stamp_host FROM told WHERE record = ?")
        return try Row.fetchAll(statement, arguments: [row]).map { ($0[0], try Stamp($0, at: 1)) }
    }

    private func forgetTold(_ property: String, of row: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM told WHERE record = ? AND property = ?").run([row, property])
    }
}

extension SyncRecord {
    /// Returns the stamp of a property; '' for the deletion.
    fileprivate func stamp(of property: String) -> Stamp? {
        property.isEmpty ? deletion?.stamp : properties[property]?.stamp
    }
}
