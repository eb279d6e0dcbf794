import GRDB

extension StoreSchema {
    /// The tables of what people want to be told of, and of the notices that are on their way (`AlertRepository`).
    static func createAlertTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE alert (
                    -- Never given again: a program may still know the number of a rule that is gone.
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    meter TEXT NOT NULL,
                    -- As it was typed.
                    condition TEXT NOT NULL,
                    name TEXT,
                    -- Names of [notify.NAME], with commas between them.
                    notify TEXT NOT NULL,
                    is_raised INTEGER NOT NULL DEFAULT 0,
                    -- By the calendar, for people.
                    raised_ms INTEGER,
                    cleared_ms INTEGER,
                    count INTEGER NOT NULL DEFAULT 0,
                    value REAL,
                    -- The host that had the meter last, of rules about that.
                    holder TEXT
                ) STRICT;

                CREATE TABLE alert_notice (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    alert INTEGER NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
                    target TEXT NOT NULL,
                    event TEXT NOT NULL,
                    meter_name TEXT,
                    value REAL,
                    holder TEXT,
                    at_ms INTEGER NOT NULL
                ) STRICT;

                CREATE INDEX alert_notice_of ON alert_notice (alert);
                """)
    }
}
