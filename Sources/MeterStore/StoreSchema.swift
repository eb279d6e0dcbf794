import GRDB
import Gateway

enum StoreSchema {
    /// "MGW1", in the header of each file, so that this program never writes to another program's database.
    static let applicationID: Int32 = 0x4D47_5731

    /// All migrations. Append only: users' stores have already run the released ones.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 meters, settings, sample chunks", migrate: createFirstTables)
        // Check foreign keys immediately. A deferred check would read all readings.
        migrator.registerMigration(
            "2 settings as records", foreignKeyChecks: .immediate, migrate: createSettingsTables)
        migrator.registerMigration(
            "3 seconds, minutes, hours", foreignKeyChecks: .immediate, migrate: createTierTables)
        migrator.registerMigration(
            "4 recordings that go on", foreignKeyChecks: .immediate, migrate: createRecordingTable)
        migrator.registerMigration("5 who brought it", foreignKeyChecks: .immediate, migrate: addBringers)
        migrator.registerMigration(
            "6 the date that ages count from", foreignKeyChecks: .immediate, migrate: createRetentionTables)
        migrator.registerMigration("7 zones", foreignKeyChecks: .immediate, migrate: createZoneTables)
        migrator.registerMigration("8 ids of this host's own", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    -- What a meter of this host was called before, and what it is called now (OwnIDs).
                    CREATE TABLE former_id (
                        former TEXT PRIMARY KEY NOT NULL,
                        id TEXT NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("9 told and not listed yet", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    -- What the cloud has acknowledged and not listed since (SettingsLedger+Told).
                    CREATE TABLE told (
                        record INTEGER NOT NULL REFERENCES record (id) ON DELETE CASCADE,
                        -- '' for the record's deletion.
                        property TEXT NOT NULL,
                        stamp_ms INTEGER NOT NULL,
                        stamp_counter INTEGER NOT NULL,
                        stamp_host TEXT NOT NULL,
                        -- A reading of the type ended since, so the next one began after the answer.
                        is_awaited INTEGER NOT NULL DEFAULT 0,
                        -- It was told once more because it was not listed.
                        is_repeated INTEGER NOT NULL DEFAULT 0,
                        PRIMARY KEY (record, property)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration(
            "10 what the cloud has no room for", foreignKeyChecks: .immediate, migrate: createHeldBackTable)
        migrator.registerMigration("11 tokens of leases", foreignKeyChecks: .immediate) { db in
            // Add columns for the meter's greatest known fencing token and its zone (MeterStore.leaseTokens).
            try db.execute(
                sql: "ALTER TABLE meter ADD COLUMN lease_token INTEGER; ALTER TABLE meter ADD COLUMN lease_zone TEXT")
        }
        migrator.registerMigration("12 the kind of link asked for", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: "ALTER TABLE meter ADD COLUMN preferred_transport TEXT")
        }
        migrator.registerMigration("13 the meters' log", foreignKeyChecks: .immediate, migrate: createLogTable)
        migrator.registerMigration("14 alerts", foreignKeyChecks: .immediate, migrate: createAlertTables)
        migrator.registerMigration(
            "15 alerts in the meters' log", foreignKeyChecks: .immediate, migrate: allowAlertsInLog)
        migrator.registerMigration(
            "16 energy counted here", foreignKeyChecks: .immediate, migrate: createEnergyCountTable)
        migrator.registerMigration("17 where USB meters are plugged in", foreignKeyChecks: .immediate) { db in
            // Store both port and serial number, because the meter's id contains only one of them (USBPlug).
            try db.execute(
                sql: "ALTER TABLE meter ADD COLUMN usb_port TEXT; ALTER TABLE meter ADD COLUMN usb_serial TEXT")
        }
        migrator.registerMigration("18 energy of all meters", foreignKeyChecks: .immediate, migrate: keepOwnCounters)
        migrator.registerMigration("19 marks of this host alone", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    CREATE TABLE local_mark (
                        -- host/meter/token/start (RecordingID.recordName).
                        id TEXT PRIMARY KEY NOT NULL,
                        meter TEXT NOT NULL,
                        name TEXT NOT NULL,
                        start_ms INTEGER NOT NULL,
                        -- Equal to the start for a moment, null while a span is open.
                        end_ms INTEGER
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX local_mark_of ON local_mark (meter, start_ms);
                    """)
        }
        migrator.registerMigration("20 units in alerts", foreignKeyChecks: .immediate, migrate: addUnitsToAlerts)
        return migrator
    }

    private static func createFirstTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE meter (
                    id TEXT PRIMARY KEY NOT NULL,
                    model TEXT,
                    transport TEXT,
                    link TEXT,
                    is_declared INTEGER NOT NULL DEFAULT 0,
                    is_wanted INTEGER NOT NULL DEFAULT 0,
                    last_seen_ms INTEGER
                ) STRICT, WITHOUT ROWID;

                -- The stamp (time, counter, replica) orders writes of several hosts to one setting, last writer wins;
                -- 0, 0, '' is a write from before this host shared its settings, older than any other. A value of
                -- NULL is a setting taken back.
                CREATE TABLE setting (
                    meter TEXT NOT NULL,
                    key TEXT NOT NULL,
                    value TEXT,
                    stamp_ms INTEGER NOT NULL DEFAULT 0,
                    stamp_counter INTEGER NOT NULL DEFAULT 0,
                    stamp_replica TEXT NOT NULL DEFAULT '',
                    PRIMARY KEY (meter, key)
                ) STRICT, WITHOUT ROWID;

                -- A number for each meter with readings, so that a chunk does not repeat its id.
                CREATE TABLE meter_ref (
                    ref INTEGER PRIMARY KEY,
                    id TEXT NOT NULL UNIQUE
                ) STRICT;

                CREATE TABLE sample_chunk (
                    id INTEGER PRIMARY KEY,
                    meter_ref INTEGER NOT NULL REFERENCES meter_ref (ref),
                    first_ms INTEGER NOT NULL,
                    last_ms INTEGER NOT NULL,
                    count INTEGER NOT NULL CHECK (count > 0),
                    bytes BLOB NOT NULL,
                    CHECK (first_ms <= last_ms)
                ) STRICT;

                -- The end too, so that chunks outside a span are passed over without reading their rows.
                CREATE INDEX sample_chunk_time ON sample_chunk (meter_ref, first_ms, last_ms);
                """)
    }

    private static let columns: [(table: String, names: [String])] = [
        (
            "meter",
            [
                "id", "model", "transport", "link", "is_declared", "is_wanted", "last_seen_ms", "lease_token",
                "lease_zone", "usb_port", "usb_serial",
            ]
        ),
        ("meter_ref", ["ref", "id"]),
        ("former_id", ["former", "id"]),
        ("sample_chunk", ["id", "meter_ref", "first_ms", "last_ms", "count", "bytes"]),
        ("sample_tier", ["id", "tier", "meter_ref", "block_ms", "bytes"]),
        ("rollup", ["chunk"]),
        ("believed_date", ["date_ms"]),
        ("doubted_date", ["id", "first_ms", "last_ms", "confirmed_ms"]),
        ("running_recording", ["name", "property", "kind", "value"]),
        (
            "host",
            ["id", "machine", "session", "clock_ms", "clock_counter", "cloud_ms", "cloud_counter", "epoch"]
        ),
        ("rebuild", ["version", "cursor_type", "cursor_name", "scanned", "folded", "is_complete"]),
        (
            "record",
            [
                "id", "type", "name", "deleted_ms", "deleted_counter", "deleted_host", "merged_into",
                "deletion_learned_ms", "seen_in", "deletion_brought_by",
            ]
        ),
        ("register", ["record", "property", "kind", "value", "brought_by"] + stampColumns),
        (
            "history",
            ["id", "type", "name", "property", "kind", "value", "new_kind", "new_value", "learned_ms"] + stampColumns
                + ["by_ms", "by_counter", "by_host", "brought_by", "by_brought_by"]
        ),
        (
            "outbox",
            ["record", "property", "type", "boot", "since_boot_ms", "is_told"]
                + stampColumns
        ),
        ("told", ["record", "property", "is_awaited", "is_repeated"] + stampColumns),
        ("parked", ["id", "origin", "type", "name", "reason", "raw", "learned_ms"]),
        ("membership", ["zone", "zone_name", "success_ms", "failures"]),
        ("visit", ["identity", "name", "server_ms"]),
        ("aside", ["id", "type", "name", "reason", "zone", "zone_name", "learned_ms", "aged_from_ms"]),
        ("aside_register", ["aside", "property", "kind", "value", "brought_by"] + stampColumns),
        (
            "deletion_elsewhere",
            [
                "zone", "type", "name", "deleted_ms", "deleted_counter", "deleted_host", "merged_into", "brought_by",
                "learned_ms", "is_pending",
            ]
        ),
        (
            "alert",
            [
                "id", "meter", "condition", "name", "notify", "is_raised", "raised_ms", "cleared_ms", "count", "value",
                "holder",
            ]
        ),
        (
            "energy_count",
            [
                "meter", "energy_Wh", "charge_mAh", "counted_s", "since_ms", "own_energy_Wh", "own_charge_mAh",
                "own_group", "own_ms", "lease_token",
            ]
        ),
        ("alert_notice", ["number", "alert", "target", "event", "meter_name", "value", "holder", "at_ms"]),
        ("local_mark", ["id", "meter", "name", "start_ms", "end_ms"]),
        ("progress", ["type", "token", "is_refetching", "cursor", "refetch"]),
        (
            "meter_log",
            [
                "number", "meter", "kind", "what", "detail", "author", "author_name", "token", "last_token", "count",
                "first_ms", "last_ms", "boot", "first_since_boot_ms", "last_since_boot_ms",
            ]
        ),
    ]

    private static let stampColumns = ["stamp_ms", "stamp_counter", "stamp_host"]

    /// Checks a file before anything is written to it.
    ///
    /// - Returns: whether the file has no tables.
    static func inspect(_ db: Database, path: String) throws -> Bool {
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        guard tables > 0 else { return true }
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else {
            throw StoreError(
                .damaged,
                "\(path) is a database, but not a store of this program. It is left as it is; "
                    + "give another path, or move the file away")
        }
        guard try !migrator.hasBeenSuperseded(db) else {
            throw StoreError(
                .newerVersion,
                "the store \(path) was written by a newer version of this program. It is left as it is; "
                    + "install that version again, or give another path")
        }
        return false
    }

    /// Applies settings that only an empty database accepts.
    static func layOut(_ db: Database) throws {
        // A small page size, because each commit writes whole pages, and a minute of one meter is about 1 kB. A meter's
        // day, with log and checkpoints, writes 7 MB with 512 bytes, 10 MB with 1024, 21 MB with 4096.
        try db.execute(sql: "PRAGMA page_size = \(pageSize)")
        // Lets `prune` return freed pages to the file system.
        try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
    }

    static let pageSize = 512

    /// Throws if the file is read-only or locked by another program.
    static func checkWritable(_ db: Database) throws {
        try db.inTransaction(.immediate) {
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            return .rollback
        }
    }

    static func tune(_ db: Database, pageCountMax: Int?) throws {
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "journal mode \(mode ?? "unknown") instead of WAL")
        }
        // NORMAL: only checkpoints wait for the disk. A power cut may lose about the last minute, but never damages the
        // file; a crash of the program loses nothing.
        try db.execute(sql: "PRAGMA synchronous = NORMAL")
        try tune(db, isMuchWritten: false)
        try db.execute(sql: "PRAGMA journal_size_limit = \(2 * logLength)")
        // Debian's SQLite overwrites deleted data with zeros by default. Readings are not secret.
        try db.execute(sql: "PRAGMA secure_delete = OFF")
        if let pageCountMax { try db.execute(sql: "PRAGMA max_page_count = \(pageCountMax)") }
    }

    /// Sets the sizes of the cache and the write-ahead log.
    ///
    /// A longer log makes checkpoints rarer, but uses more space and slows the opening after a crash. For readings,
    /// twice this length would save only 1 %. For changes of a hundred thousand records (`isMuchWritten`), eight times
    /// both sizes save a quarter of the time.
    static func tune(_ db: Database, isMuchWritten: Bool) throws {
        let factor = isMuchWritten ? 8 : 1
        try db.execute(sql: "PRAGMA cache_size = \(-512 * factor)")
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(logLength / pageSize * factor)")
    }

    /// Size of the write-ahead log, in bytes, that triggers a checkpoint.
    static let logLength = 1 << 19

    /// Throws `damaged` if a table or column is missing although every migration has run.
    static func checkTables(_ db: Database, path: String) throws {
        // Use a single statement for all tables, because each opening runs this check.
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT place.name, part.name FROM sqlite_schema place, pragma_table_info(place.name) part
                WHERE place.type = 'table'
                """)
        var found: [String: Set<String>] = [:]
        while let row = try rows.next() { found[row[0], default: []].insert(row[1]) }
        for (table, names) in columns {
            let missing = names.filter { found[table]?.contains($0) != true }
            guard missing.isEmpty else {
                throw StoreError(
                    .damaged,
                    "the store \(path) lacks \(missing.joined(separator: ", ")) in its table \(table). "
                        + "It is left as it is; move it away or restore it from a backup")
            }
        }
    }
}
