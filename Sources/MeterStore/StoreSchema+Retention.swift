import GRDB

extension StoreSchema {
    /// Creates tables for the date from which the age of stored data counts, and for unconfirmed dates
    /// (`BelievedDate`).
    static func createRetentionTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE believed_date (
                    one INTEGER PRIMARY KEY CHECK (one = 1),
                    date_ms INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE doubted_date (
                    id INTEGER PRIMARY KEY,
                    first_ms INTEGER NOT NULL,
                    last_ms INTEGER NOT NULL,
                    confirmed_ms INTEGER,
                    CHECK (first_ms <= last_ms)
                ) STRICT;
                """)
    }

    /// Returns the SQL condition under which rows with dates from `first` to `last` may be deleted: they overlap no
    /// span of dates (`BelievedDate.Doubt`) that was still unconfirmed at the cutoff.
    ///
    /// - Parameter cutoff: SQL parameter for the time before which rows are deleted, in milliseconds since 1970.
    static func isUndoubted(from first: String, to last: String, cutoff: String) -> String {
        """
        NOT EXISTS (
            SELECT 1 FROM doubted_date AS doubt WHERE doubt.first_ms <= \(last) AND doubt.last_ms >= \(first)
                AND (doubt.confirmed_ms IS NULL OR doubt.confirmed_ms >= \(cutoff)))
        """
    }
}
