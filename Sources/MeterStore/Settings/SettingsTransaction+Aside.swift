import Domain
import GRDB
import Gateway

// Set-aside values: values that the cloud's zone does not list, or other hosts' values from the previous zone. They are
// kept until the cloud lists them, a user decides, or they expire.

extension SettingsTransaction {
    /// - Parameter zone: zone of the value; '' if unknown.
    mutating func putAside(
        _ property: String, _ register: Register, of key: RecordKey, because reason: String, zone: String,
        zoneName: String?
    ) throws {
        hasAside = true
        let entry: [(any DatabaseValueConvertible)?] = [key.type.rawValue, key.name, reason, zone]
        try db.cachedStatement(
            sql: """
                INSERT INTO aside (type, name, reason, zone, zone_name, learned_ms) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (type, name, reason, zone) DO UPDATE SET aged_from_ms = NULL
                """
        ).run(entry + [zoneName, learned.millisecondsSince1970])
        var values: [(any DatabaseValueConvertible)?] = [property]
        values += register.value.columns
        values += register.stamp.columns
        values.append(register.broughtBy?.description)
        try db.cachedStatement(
            sql: """
                INSERT INTO aside_register (aside, property, kind, value, stamp_ms, stamp_counter, stamp_host,
                    brought_by)
                SELECT id, ?, ?, ?, ?, ?, ?, ? FROM aside WHERE type = ? AND name = ? AND reason = ? AND zone = ?
                ON CONFLICT (aside, property) DO UPDATE SET
                    kind = excluded.kind, value = excluded.value, stamp_ms = excluded.stamp_ms,
                    stamp_counter = excluded.stamp_counter, stamp_host = excluded.stamp_host,
                    brought_by = excluded.brought_by
                WHERE (excluded.stamp_ms, excluded.stamp_counter, excluded.stamp_host)
                    > (stamp_ms, stamp_counter, stamp_host)
                """
        ).run(values + entry)
    }

    /// Deletes set-aside values that the cloud lists again, unless they are newer than the listed ones.
    mutating func outdateAside(_ listed: SyncRecord) throws {
        if hasAside == nil { hasAside = try Int.fetchOne(db, sql: "SELECT 1 FROM aside LIMIT 1") != nil }
        guard hasAside == true else { return }
        let entries = try Int64.fetchAll(
            try db.cachedStatement(sql: "SELECT id FROM aside WHERE type = ? AND name = ?"),
            arguments: [listed.key.type.rawValue, listed.key.name])
        for entry in entries {
            for (property, register) in try asideRegisters(of: entry)
            where listed.has(property, asNewAs: register.stamp) {
                try dropAside(property, of: entry)
            }
            try dropAsideIfEmpty(entry)
        }
    }

    func asideRegisters(of entry: Int64) throws -> [String: Register] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT property, kind, value, stamp_ms, stamp_counter, stamp_host, brought_by
                FROM aside_register WHERE aside = ?
                """)
        return try Row.fetchAll(statement, arguments: [entry]).reduce(into: [:]) { registers, row in
            registers[row[0]] = try Register(row, at: 1, bringer: 6)
        }
    }

    func dropAside(_ property: String, of entry: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM aside_register WHERE aside = ? AND property = ?").run([
            entry, property,
        ])
    }

    func dropAsideIfEmpty(_ entry: Int64) throws {
        try db.cachedStatement(
            sql: "DELETE FROM aside WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM aside_register WHERE aside = ?1)"
        ).run([entry])
    }

    mutating func restoreAside(_ entry: Int64) throws -> ParkedRestore? {
        let found = try Row.fetchOne(db, sql: "SELECT type, name FROM aside WHERE id = ?", arguments: [entry])
        guard let found else { return nil }
        let key = RecordKey(type: RecordType(rawValue: found[0]), name: found[1])
        let part = SyncRecord(key: key, properties: try asideRegisters(of: entry))
        let merge = (try record(key) ?? SyncRecord(key: key)).merging(part)
        guard !merge.isEmpty else {
            return .nothing(because: "the present values are newer than all that was set aside of \(key.name)")
        }
        if let fault = merge.after.fault { return .nothing(because: "\(fault)") }
        try store(merge)
        try tell(merge)
        for property in merge.news { try dropAside(property, of: entry) }
        try dropAsideIfEmpty(entry)
        return .restored(properties: merge.news.count, try finished())
    }
}
