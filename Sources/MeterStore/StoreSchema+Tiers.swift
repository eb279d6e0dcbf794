import Domain
import GRDB

extension StoreSchema {
    /// Creates tables for readings aggregated by second, minute and hour.
    ///
    /// Leaves existing readings to the first calls of `rollUp`, because their aggregation takes long.
    static func createTierTables(_ db: Database) throws {
        try db.execute(
            sql: """
                -- A block of buckets (SampleBucketBlock). The tier is a bucket's length in milliseconds.
                CREATE TABLE sample_tier (
                    id INTEGER PRIMARY KEY,
                    tier INTEGER NOT NULL,
                    meter_ref INTEGER NOT NULL REFERENCES meter_ref (ref),
                    block_ms INTEGER NOT NULL,
                    bytes BLOB NOT NULL,
                    UNIQUE (tier, meter_ref, block_ms)
                ) STRICT;

                -- The chunk up to which all are in the minutes and hours. New chunks have greater numbers, also where
                -- the last ones were deleted.
                CREATE TABLE rollup (
                    one INTEGER PRIMARY KEY CHECK (one = 1),
                    chunk INTEGER NOT NULL DEFAULT 0
                ) STRICT;

                INSERT INTO rollup (one) VALUES (1);
                """)
    }

    /// Creates the table of running recordings, by record name. A finished recording becomes a settings record.
    static func createRecordingTable(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE running_recording (
                    name TEXT NOT NULL,
                    property TEXT NOT NULL,
                    kind TEXT NOT NULL,
                    value ANY,
                    PRIMARY KEY (name, property)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
