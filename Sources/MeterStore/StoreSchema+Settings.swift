import Domain
import GRDB

extension StoreSchema {
    /// Converts settings to records that can be merged with other hosts' (Docs/SettingsAndRebuild.md).
    ///
    /// Earlier settings become properties with stamps older than any real write, and are added to the outbox.
    static func createSettingsTables(_ db: Database) throws {
        try db.execute(sql: hostTables)
        try db.execute(sql: recordTables)
        try db.execute(sql: exchangeTables)
        // SQLite generates the random id, because no other generator is available here.
        let host = try HostRow.drawID(db)
        try db.execute(sql: "INSERT INTO host (one, id) VALUES (1, ?)", arguments: [host.description])
        try db.execute(sql: "INSERT INTO rebuild (one) VALUES (1)")
        try moveSettings(db, host: host.description)
    }

    /// Adds columns for the host that brought a value to the cloud; NULL if that host is unknown or the author.
    static func addBringers(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE register ADD COLUMN brought_by TEXT;
                ALTER TABLE record ADD COLUMN deletion_brought_by TEXT;
                -- Of the old value; and of the write or deletion that replaced it.
                ALTER TABLE history ADD COLUMN brought_by TEXT;
                ALTER TABLE history ADD COLUMN by_brought_by TEXT;
                """)
    }

    private static func moveSettings(_ db: Database, host: String) throws {
        try db.execute(
            sql: "INSERT INTO record (type, name) SELECT DISTINCT 'DeviceSettings', meter FROM setting ORDER BY meter")
        try db.execute(
            sql: """
                INSERT INTO register (record, property, kind, value, stamp_ms, stamp_counter, stamp_host)
                SELECT record.id, key, CASE WHEN value IS NULL THEN 'null' ELSE 'string' END, value, 0, 0, ?
                FROM setting JOIN record ON record.name = meter
                """, arguments: [host])
        try db.execute(
            sql: """
                INSERT INTO outbox (record, property, type, stamp_ms, stamp_counter, stamp_host)
                SELECT record, property, type, stamp_ms, stamp_counter, stamp_host
                FROM register JOIN record ON record.id = record
                """)
        try db.execute(sql: "DROP TABLE setting")
    }

    /// SQL query for the number of outbox entries that contradict their record, which should be 0.
    static let strayEntries = """
        SELECT count(*) FROM outbox JOIN record ON record.id = outbox.record
            LEFT JOIN register ON register.record = outbox.record AND register.property = outbox.property
        WHERE outbox.type <> record.type
            OR outbox.stamp_ms IS NOT iif(outbox.property = '', deleted_ms, register.stamp_ms)
            OR outbox.stamp_counter IS NOT iif(outbox.property = '', deleted_counter, register.stamp_counter)
            OR outbox.stamp_host IS NOT iif(outbox.property = '', deleted_host, register.stamp_host)
        """

    private static let hostTables = """
        CREATE TABLE host (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            id TEXT NOT NULL,
            -- A digest of the machine's own id: a copied card finds another one. NULL until it is first told.
            machine TEXT,
            -- Of the run that used the file last.
            session TEXT,
            -- The greatest stamp given out or seen.
            clock_ms INTEGER NOT NULL DEFAULT 0,
            clock_counter INTEGER NOT NULL DEFAULT 0,
            -- The greatest stamp that the cloud accepted or sent.
            cloud_ms INTEGER NOT NULL DEFAULT 0,
            cloud_counter INTEGER NOT NULL DEFAULT 0,
            -- Of the cloud's store that the tokens belong to.
            epoch TEXT
        ) STRICT;

        CREATE TABLE rebuild (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            version INTEGER NOT NULL DEFAULT 0,
            cursor_type TEXT,
            cursor_name TEXT,
            scanned INTEGER NOT NULL DEFAULT 0,
            folded INTEGER NOT NULL DEFAULT 0,
            is_complete INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        """

    private static let recordTables = """
        CREATE TABLE record (
            id INTEGER PRIMARY KEY,
            type TEXT NOT NULL,
            name TEXT NOT NULL,
            deleted_ms INTEGER,
            deleted_counter INTEGER,
            deleted_host TEXT,
            merged_into TEXT,
            -- When this host learned of the deletion, milliseconds since 1970 by its own calendar.
            deletion_learned_ms INTEGER,
            -- The last refetch (progress.refetch) that the record was on a page of.
            seen_in INTEGER NOT NULL DEFAULT 0,
            UNIQUE (type, name)
        ) STRICT;

        -- A property. A string with a NUL in it is kept as a BLOB of its UTF-8, any other as TEXT.
        CREATE TABLE register (
            record INTEGER NOT NULL REFERENCES record (id) ON DELETE CASCADE,
            property TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('null', 'bool', 'int', 'double', 'string')),
            value ANY,
            stamp_ms INTEGER NOT NULL,
            stamp_counter INTEGER NOT NULL,
            stamp_host TEXT NOT NULL,
            PRIMARY KEY (record, property)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE history (
            id INTEGER PRIMARY KEY,
            type TEXT NOT NULL,
            name TEXT NOT NULL,
            property TEXT NOT NULL,
            kind TEXT NOT NULL,
            value ANY,
            stamp_ms INTEGER NOT NULL,
            stamp_counter INTEGER NOT NULL,
            stamp_host TEXT NOT NULL,
            -- What stands there now; new_kind is NULL where the record was deleted.
            new_kind TEXT,
            new_value ANY,
            by_ms INTEGER NOT NULL,
            by_counter INTEGER NOT NULL,
            by_host TEXT NOT NULL,
            learned_ms INTEGER NOT NULL
        ) STRICT;

        CREATE INDEX history_of ON history (type, name, property, id);
        CREATE INDEX history_age ON history (learned_ms);
        """

    private static let exchangeTables = """
        -- What waits to be told: the register of this property, or with '' the record's deletion, as long as it still
        -- has this stamp. Deleting a record never takes one along.
        CREATE TABLE outbox (
            record INTEGER NOT NULL REFERENCES record (id),
            property TEXT NOT NULL,
            type TEXT NOT NULL,
            stamp_ms INTEGER NOT NULL,
            stamp_counter INTEGER NOT NULL,
            stamp_host TEXT NOT NULL,
            -- When it was written, by the clock that no calendar moves; NULL where this host did not write it.
            boot TEXT,
            since_boot_ms INTEGER,
            -- It was sent at least once, and nobody knows whether it arrived.
            is_told INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (record, property)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX outbox_order ON outbox (type, stamp_ms, stamp_counter, stamp_host);

        -- What could not be kept ('page') or was refused by the cloud for good ('push').
        CREATE TABLE parked (
            id INTEGER PRIMARY KEY,
            origin TEXT NOT NULL CHECK (origin IN ('page', 'push')),
            type TEXT NOT NULL,
            name TEXT NOT NULL,
            reason TEXT NOT NULL,
            raw TEXT NOT NULL,
            learned_ms INTEGER NOT NULL,
            UNIQUE (origin, type, name)
        ) STRICT;

        -- How far the changes of a type are stored here.
        CREATE TABLE progress (
            type TEXT PRIMARY KEY NOT NULL,
            token TEXT,
            -- While the type is read anew: how far that has come. The token stays what it was until the end.
            is_refetching INTEGER NOT NULL DEFAULT 0,
            cursor TEXT,
            refetch INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        """
}
