import Domain
import GRDB

extension StoreSchema {
    /// Adds the units that conditions lack, so that they keep their meaning.
    static func addUnitsToAlerts(_ db: Database) throws {
        for row in try Row.fetchAll(db, sql: "SELECT id, condition FROM alert") {
            let (id, condition): (Int64, String) = (row["id"], row["condition"])
            guard let text = try? AlertParser.pattern(condition, isStored: true).text, text != condition else {
                continue
            }
            try db.execute(sql: "UPDATE alert SET condition = ? WHERE id = ?", arguments: [text, id])
        }
    }

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

    /// Allows log lines about alerts. Recreates the table, because SQLite cannot change a table's CHECK constraint.
    static func allowAlertsInLog(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE meter_log_with_alerts (
                    number INTEGER PRIMARY KEY,
                    meter TEXT NOT NULL,
                    kind TEXT NOT NULL CHECK (kind IN ('held', 'state', 'command', 'remedy', 'alert')),
                    what TEXT NOT NULL,
                    detail TEXT,
                    author TEXT,
                    author_name TEXT,
                    token INTEGER,
                    last_token INTEGER,
                    count INTEGER NOT NULL CHECK (count > 0),
                    first_ms INTEGER NOT NULL,
                    last_ms INTEGER NOT NULL,
                    boot TEXT,
                    first_since_boot_ms INTEGER,
                    last_since_boot_ms INTEGER
                ) STRICT;
                INSERT INTO meter_log_with_alerts
                SELECT number, meter, kind, what, detail, author, author_name, token, last_token, count, first_ms,
                    last_ms, boot, first_since_boot_ms, last_since_boot_ms FROM meter_log;
                DROP TABLE meter_log;
                ALTER TABLE meter_log_with_alerts RENAME TO meter_log;
                CREATE INDEX meter_log_of ON meter_log (meter, number);
                """)
    }
}
