import Domain
import GRDB
package import Gateway

extension StoreSchema {
    static func createHeldBackTable(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Records of which something waits in the outbox that the cloud has no room for.
                CREATE TABLE held_back (
                    record INTEGER PRIMARY KEY REFERENCES record (id) ON DELETE CASCADE,
                    -- No batch has it.
                    is_held INTEGER NOT NULL,
                    refusals INTEGER NOT NULL
                ) STRICT;

                CREATE INDEX held_back_order ON held_back (is_held, refusals, record);
                """)
    }
}

extension MeterStore {
    package func retryHeldBack(recordsMax: Int) async throws(StoreError) -> Int {
        try await transaction { db in
            try db.execute(
                sql: "DELETE FROM held_back WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE record = held_back.record)")
            let rows = try Int64.fetchAll(
                db, sql: "SELECT record FROM held_back WHERE is_held = 1 ORDER BY refusals, record LIMIT ?",
                arguments: [max(recordsMax, 1)])
            let statement = try db.cachedStatement(sql: "UPDATE held_back SET is_held = 0 WHERE record = ?")
            for row in rows { try statement.run([row]) }
            return rows.count
        }
    }
}

extension SettingsTransaction {
    /// Excludes the record from batches but keeps it in the outbox, so that other records can be sent.
    mutating func holdBack(_ row: Int64) throws {
        // Hold the record back only if it still has an unsent change: the outbox may have changed since sending.
        guard try waits(row) else { return }
        hasHeldBack = true
        try db.cachedStatement(
            sql: """
                INSERT INTO held_back (record, is_held, refusals) VALUES (?, 1, 1)
                ON CONFLICT (record) DO UPDATE SET is_held = 1, refusals = refusals + 1
                """
        ).run([row])
    }

    mutating func stopHoldingBack(_ row: Int64) throws {
        if hasHeldBack == nil { hasHeldBack = try Int.fetchOne(db, sql: "SELECT 1 FROM held_back LIMIT 1") != nil }
        guard hasHeldBack == true else { return }
        try db.cachedStatement(sql: "DELETE FROM held_back WHERE record = ?").run(row)
    }

    static func heldBackCount(_ db: Database) throws -> Int {
        let statement = try db.cachedStatement(
            sql: """
                SELECT count(*) FROM held_back
                WHERE is_held = 1 AND EXISTS (SELECT 1 FROM outbox WHERE outbox.record = held_back.record)
                """)
        return try Int.fetchOne(statement) ?? 0
    }

    static let isHeldBack =
        "EXISTS (SELECT 1 FROM held_back WHERE held_back.record = outbox.record AND held_back.is_held = 1)"
}
