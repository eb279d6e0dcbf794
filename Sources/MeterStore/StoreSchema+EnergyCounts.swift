import GRDB

extension StoreSchema {
    /// The table of what was counted for meters that count no energy themselves (`EnergyCountRepository`).
    static func createEnergyCountTable(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE energy_count (
                    meter TEXT PRIMARY KEY NOT NULL,
                    energy_Wh REAL NOT NULL,
                    charge_mAh REAL NOT NULL,
                    -- How long it was counted, gaps left out.
                    counted_s REAL NOT NULL,
                    -- By the calendar: the first reading, or the last reset.
                    since_ms INTEGER
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
