import GRDB

extension StoreSchema {
    /// Creates the log of meters' events (`LogEntry`).
    static func createLogTable(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE meter_log (
                    number INTEGER PRIMARY KEY,
                    meter TEXT NOT NULL,
                    kind TEXT NOT NULL CHECK (kind IN ('held', 'state', 'command', 'remedy')),
                    -- The transport, the state, the command, or the remedy.
                    what TEXT NOT NULL,
                    -- How a holding ended, NULL while it goes on; the cause; what became of the command; the cause.
                    detail TEXT,
                    -- Of a command: 'person', 'broker', or a host's id. Of a remedy: the adapter's address.
                    author TEXT,
                    author_name TEXT,
                    -- Of the leases of a holding; NULL without one.
                    token INTEGER,
                    last_token INTEGER,
                    count INTEGER NOT NULL CHECK (count > 0),
                    -- By the calendar as it was then, which may have gone back in between.
                    first_ms INTEGER NOT NULL,
                    last_ms INTEGER NOT NULL,
                    -- By the clock that no calendar moves, and of which start of the machine; NULL where that is not known.
                    boot TEXT,
                    first_since_boot_ms INTEGER,
                    last_since_boot_ms INTEGER
                ) STRICT;

                CREATE INDEX meter_log_of ON meter_log (meter, number);
                """)
    }
}
