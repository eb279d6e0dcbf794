package import Domain
import GRDB
package import Gateway

extension MeterStore: RetentionRepository {
    package func believed() async throws(StoreError) -> BelievedDate? {
        try await access("read") { db in
            guard let date = try Int64.fetchOne(db, sql: "SELECT date_ms FROM believed_date") else { return nil }
            let doubts = try Row.fetchAll(
                db, sql: "SELECT first_ms, last_ms, confirmed_ms FROM doubted_date ORDER BY id")
            return BelievedDate(
                date: WallTime(millisecondsSince1970: date), doubts: doubts.map { BelievedDate.Doubt($0) })
        }
    }

    package func save(_ believed: BelievedDate) async throws(StoreError) {
        try await transaction { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO believed_date (one, date_ms) VALUES (1, ?)",
                arguments: [believed.date.millisecondsSince1970])
            try db.execute(sql: "DELETE FROM doubted_date")
            for doubt in believed.doubts {
                try db.execute(
                    sql: "INSERT INTO doubted_date (first_ms, last_ms, confirmed_ms) VALUES (?, ?, ?)",
                    arguments: [
                        doubt.first.millisecondsSince1970, doubt.last.millisecondsSince1970,
                        doubt.confirmed?.millisecondsSince1970,
                    ])
            }
        }
    }

    package func newestStored() async throws(StoreError) -> WallTime? {
        try await access("read") { db in
            // Query each meter separately, because the index is ordered by meter.
            let readings = try Self.references(db).compactMap { reference in
                try Int64.fetchOne(
                    db, sql: "SELECT last_ms FROM sample_chunk WHERE meter_ref = ? ORDER BY first_ms DESC LIMIT 1",
                    arguments: [reference])
            }
            let settings = try Self.learned("max", "TRUE", [], db)
            return (readings + settings).max().map { WallTime(millisecondsSince1970: $0) }
        }
    }

    /// Returns the first time after `time` of a stored reading, overwritten setting or deletion. A chunk of readings
    /// counts from its start, or from a millisecond after `time` if that is later.
    package func firstStored(after time: WallTime) async throws(StoreError) -> WallTime? {
        let time = time.millisecondsSince1970
        return try await access("read") { db in
            let readings: [Int64] = try Self.references(db).compactMap { reference in
                // Only the latest chunk before `time` can extend beyond it, because chunks are short.
                let reaching = try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT last_ms FROM sample_chunk WHERE meter_ref = ? AND first_ms <= ?
                        ORDER BY first_ms DESC LIMIT 1
                        """, arguments: [reference, time])
                if let reaching, reaching > time { return time + 1 }
                return try Int64.fetchOne(
                    db, sql: "SELECT min(first_ms) FROM sample_chunk WHERE meter_ref = ? AND first_ms > ?",
                    arguments: [reference, time])
            }
            let settings = try Self.learned("min", "learned_ms > ?", [time], db)
            return (readings + settings).min().map { WallTime(millisecondsSince1970: $0) }
        }
    }

    /// Returns the first (`min`) or last (`max`) times at which this host received an overwritten value and a deletion.
    /// Both expire like readings.
    private static func learned(
        _ end: String, _ condition: String, _ arguments: StatementArguments, _ db: Database
    ) throws -> [Int64] {
        let deletions = "(SELECT deletion_learned_ms AS learned_ms FROM record)"
        return try ["history", deletions].compactMap { rows in
            try Int64.fetchOne(
                db, sql: "SELECT \(end)(learned_ms) FROM \(rows) WHERE \(condition)", arguments: arguments)
        }
    }
}

extension BelievedDate.Doubt {
    /// - Parameter row: has the columns first_ms, last_ms, confirmed_ms, in this order.
    fileprivate init(_ row: Row) {
        let confirmed: Int64? = row[2]
        self.init(
            first: WallTime(millisecondsSince1970: row[0]), last: WallTime(millisecondsSince1970: row[1]),
            confirmed: confirmed.map { WallTime(millisecondsSince1970: $0) })
    }
}
