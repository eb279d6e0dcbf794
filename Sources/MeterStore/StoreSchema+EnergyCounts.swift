import GRDB

extension StoreSchema {
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

    /// Adds columns for the meter's own counters (`OwnCounters`), and for the fencing token of the lease under which
    /// they were stored.
    static func keepOwnCounters(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE energy_count ADD COLUMN own_energy_Wh REAL;
                ALTER TABLE energy_count ADD COLUMN own_charge_mAh REAL;
                ALTER TABLE energy_count ADD COLUMN own_group INTEGER;
                -- By the calendar; null for a meter that has told none.
                ALTER TABLE energy_count ADD COLUMN own_ms INTEGER;
                ALTER TABLE energy_count ADD COLUMN lease_token INTEGER;
                """)
    }
}
