import Cloud
import Domain
import GRDB

enum AliasTable {
    static func fetchAll(_ db: Database) throws -> [Int64: AliasBook] {
        var entries: [Int64: [String: AliasBook.Entry]] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT * FROM alias") {
            let entry = AliasBook.Entry(
                meter: row["meter"],
                tokensBefore: FencingToken(rawValue: UInt64(clamping: row["tokens_before"] as Int64)))
            entries[row["zone"], default: [:]][row["alias"]] = entry
        }
        var floors: [Int64: [String: FencingToken]] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT * FROM lease_floor") {
            let token = FencingToken(rawValue: UInt64(clamping: row["token"] as Int64))
            floors[row["zone"], default: [:]][row["meter"]] = token
        }
        var books: [Int64: AliasBook] = [:]
        for zone in Set(entries.keys).union(floors.keys) {
            books[zone] = AliasBook(entries: entries[zone] ?? [:], floors: floors[zone] ?? [:])
        }
        return books
    }

    static func write(_ book: AliasBook, over old: AliasBook, in zone: Int64, _ db: Database) throws {
        for alias in old.entries.keys where book.entries[alias] == nil {
            try db.execute(sql: "DELETE FROM alias WHERE zone = ? AND alias = ?", arguments: [zone, alias])
        }
        for (alias, entry) in book.entries where old.entries[alias] != entry {
            try db.execute(
                sql: "INSERT OR REPLACE INTO alias (zone, alias, meter, tokens_before) VALUES (?, ?, ?, ?)",
                arguments: [zone, alias, entry.meter, Int64(clamping: entry.tokensBefore.rawValue)])
        }
        for (meter, floor) in book.floors where old.floors[meter] != floor {
            try db.execute(
                sql: "INSERT OR REPLACE INTO lease_floor (zone, meter, token) VALUES (?, ?, ?)",
                arguments: [zone, meter, Int64(clamping: floor.rawValue)])
        }
    }

    /// Applies, once, the aliases that an earlier version stored only as records.
    static func adopt(_ db: Database) throws {
        guard try Meta.aliases.read(db) == nil else { return }
        for zone in try StoredZone.fetchAll(db) {
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM record WHERE zone = ? AND type = ?",
                arguments: [zone.id, RecordType.meterAlias.rawValue])
            let adoption = try AliasAdoption(try rows.map { try RecordRow.record($0) }) { meter in
                try LeaseRow.fetch(LeaseKey(zone: zone.id, meter: meter), db)
            }
            try write(adoption.book, over: AliasBook(), in: zone.id, db)
            for (meter, lease) in adoption.leases {
                try LeaseRow.write(lease, LeaseKey(zone: zone.id, meter: meter), db)
            }
        }
        try Meta.aliases.write("1", db)
    }
}
