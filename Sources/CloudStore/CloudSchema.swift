import Cloud
import Domain
import GRDB

enum CloudSchema {
    /// Application id in the header of our files, "MGC1": the cloud never writes to another program's database.
    static let applicationID: Int32 = 0x4D47_4331

    /// Only append migrations, never edit one: existing databases have already run the released ones.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 zones, credentials, records, leases", migrate: createFirstTables)
        migrator.registerMigration("2 leases remember their grants", migrate: rememberGrants)
        migrator.registerMigration("3 identities and timelines of zones", migrate: addTimelines)
        migrator.registerMigration("4 quotas", migrate: addQuotas)
        migrator.registerMigration("5 aliases in force for leases", migrate: addAliases)
        migrator.registerMigration("6 roles of tokens", migrate: addRoles)
        migrator.registerMigration("7 commands", migrate: CommandRow.addTable)
        migrator.registerMigration("8 tokens that nobody has used", migrate: addUnusedTokens)
        migrator.registerMigration("9 limits of leases", migrate: addLeaseUsage)
        return migrator
    }

    private static func addTimelines(_ db: Database) throws {
        try db.execute(
            sql: """
                -- identity: a UUID, made with the zone.
                ALTER TABLE zone ADD COLUMN identity TEXT NOT NULL DEFAULT '';

                -- A mark for each run of the cloud that changed the zone. id: random, as a signed number. first: the
                -- sequence of the change in whose transaction it was written.
                CREATE TABLE timeline (
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    number INTEGER NOT NULL,
                    id INTEGER NOT NULL,
                    first INTEGER NOT NULL,
                    PRIMARY KEY (zone, number)
                ) STRICT, WITHOUT ROWID;
                """)
        let epoch = try Meta.epoch.read(db) ?? ""
        for name in try String.fetchAll(db, sql: "SELECT name FROM zone") {
            try db.execute(
                sql: "UPDATE zone SET identity = ? WHERE name = ?",
                arguments: [Zone.ID(ofEarlier: name, epoch: epoch).description, name])
        }
    }

    private static func addAliases(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Other ids of meters, as their records say. tokens_before: tokens up to it, said under the alias, are none
                -- of the meter's lease.
                CREATE TABLE alias (
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    alias TEXT NOT NULL,
                    meter TEXT NOT NULL,
                    tokens_before INTEGER NOT NULL,
                    PRIMARY KEY (zone, alias)
                ) STRICT, WITHOUT ROWID;

                -- What the next token of an id has to exceed, where an alias raised that above the lease's own.
                CREATE TABLE lease_floor (
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    meter TEXT NOT NULL,
                    token INTEGER NOT NULL,
                    PRIMARY KEY (zone, meter)
                ) STRICT, WITHOUT ROWID;
                """)
    }

    private static func createFirstTables(_ db: Database) throws {
        try db.execute(
            sql: """
                -- epoch, token_floor, restoring (while nothing new is granted), backup_ms (in a backup, when it was made),
                -- destination and departed_ms (where everything went, and when).
                CREATE TABLE meta (
                    key TEXT PRIMARY KEY NOT NULL,
                    value TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;

                -- floor: the greatest sequence of a purged tombstone. accepted_ms: the greatest of a stamp ever taken.
                CREATE TABLE zone (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE,
                    ttl_ms INTEGER NOT NULL,
                    lock_delay_ms INTEGER NOT NULL,
                    policy TEXT NOT NULL,
                    sequence INTEGER NOT NULL DEFAULT 0,
                    floor INTEGER NOT NULL DEFAULT 0,
                    accepted_ms INTEGER NOT NULL DEFAULT 0
                ) STRICT;

                CREATE TABLE credential (
                    id TEXT PRIMARY KEY NOT NULL,
                    hash BLOB NOT NULL UNIQUE,
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    kind TEXT NOT NULL,
                    label TEXT NOT NULL,
                    host TEXT,
                    host_name TEXT,
                    machine TEXT,
                    created_ms INTEGER NOT NULL,
                    revoked_ms INTEGER
                ) STRICT, WITHOUT ROWID;

                -- tombstone_ms: from when a tombstone's age counts; NULL for a record that is none.
                -- body: the record as it travels (CloudAPI), whose type and name are the columns.
                CREATE TABLE record (
                    id INTEGER PRIMARY KEY,
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    type TEXT NOT NULL,
                    name TEXT NOT NULL,
                    sequence INTEGER NOT NULL,
                    tombstone_ms INTEGER,
                    body BLOB NOT NULL
                ) STRICT;
                CREATE UNIQUE INDEX record_key ON record (zone, type, name);
                CREATE UNIQUE INDEX record_feed ON record (zone, type, sequence);
                CREATE INDEX record_tombstone ON record (tombstone_ms) WHERE tombstone_ms IS NOT NULL;

                -- Never deleted: the token outlives its lease. Renewals are in memory alone.
                CREATE TABLE lease (
                    zone INTEGER NOT NULL REFERENCES zone (id),
                    meter TEXT NOT NULL,
                    token INTEGER NOT NULL,
                    state TEXT NOT NULL CHECK (state IN ('free', 'held', 'revoking')),
                    host TEXT,
                    host_name TEXT,
                    session TEXT,
                    transport TEXT,
                    acquired_ms INTEGER,
                    ttl_ms INTEGER NOT NULL,
                    lock_delay_ms INTEGER NOT NULL,
                    policy TEXT NOT NULL,
                    request TEXT,
                    PRIMARY KEY (zone, meter)
                ) STRICT, WITHOUT ROWID;
                """)
    }

    private static func rememberGrants(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The requests that were granted before `request`, oldest first, each with its token.
                ALTER TABLE lease ADD COLUMN earlier_grants TEXT
                """)
    }

    private static func addRoles(_ db: Database) throws {
        try db.execute(
            sql: """
                -- What a token is good for. Those of earlier versions are good for everything.
                ALTER TABLE credential ADD COLUMN role TEXT NOT NULL DEFAULT 'full'
                """)
    }

    private static func addUnusedTokens(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The enrolment token that a host got this one for, until it is used.
                ALTER TABLE credential ADD COLUMN unused_from TEXT
                """)
    }

    private static let columns: [(table: String, names: [String])] = [
        ("meta", ["key", "value"]),
        (
            "zone",
            [
                "id", "name", "ttl_ms", "lock_delay_ms", "policy", "sequence", "floor", "accepted_ms", "identity",
                "bytes_max", "records_max", "host_bytes_max", "host_records_max", "leases_max",
            ]
        ),
        ("usage", ["zone", "host", "bytes", "records"]),
        ("lease_usage", ["zone", "host", "leases"]),
        ("timeline", ["zone", "number", "id", "first"]),
        (
            "credential",
            [
                "id", "hash", "zone", "kind", "label", "host", "host_name", "machine", "created_ms", "revoked_ms",
                "role", "unused_from",
            ]
        ),
        ("record", ["id", "zone", "type", "name", "sequence", "tombstone_ms", "body"]),
        ("alias", ["zone", "alias", "meter", "tokens_before"]),
        ("lease_floor", ["zone", "meter", "token"]),
        ("command", ["mark", "zone", "request", "author", "body"]),
        (
            "lease",
            [
                "zone", "meter", "token", "state", "host", "host_name", "session", "transport", "acquired_ms", "ttl_ms",
                "lock_delay_ms", "policy", "request", "earlier_grants",
            ]
        ),
    ]

    /// Checks the file; returns whether it has no tables.
    static func inspect(_ db: Database, path: String) throws -> Bool {
        guard try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema") != nil else { return true }
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else {
            throw CloudStoreError(
                .damaged,
                "\(path) is a database, but not a cloud's store. It is left as it is; give another directory, or move "
                    + "the file away")
        }
        guard try !migrator.hasBeenSuperseded(db) else {
            throw CloudStoreError(
                .newerVersion,
                "the store \(path) was written by a newer version of this program. It is left as it is; "
                    + "install that version again, or give another directory")
        }
        return false
    }

    /// Applies settings that only an empty file accepts.
    static func layOut(_ db: Database) throws {
        // A purge can then return space to the file system.
        try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
    }

    /// Begins a write and rolls it back. Throws if the file is read-only or another program uses it.
    static func checkWritable(_ db: Database) throws {
        try db.inTransaction(.immediate) {
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            return .rollback
        }
    }

    /// Applies the settings of each connection, except the durability, which GRDB sets after this call.
    static func prepare(_ db: Database) throws {
        try db.execute(sql: "PRAGMA cache_size = -2048")
        // By default, Debian's SQLite overwrites deleted data with zeros. Secrets need that, but settings do not.
        try db.execute(sql: "PRAGMA secure_delete = OFF")
    }

    /// Sets the pool's writer from GRDB's `synchronous` NORMAL to FULL: with NORMAL, a power cut may lose acknowledged
    /// writes.
    static func tune(_ db: Database, pageCountMax: Int?) throws {
        let full = 2
        try db.execute(sql: "PRAGMA synchronous = \(full)")
        guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == full else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "synchronous cannot be set to FULL")
        }
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal" else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "no write-ahead log")
        }
        try db.execute(sql: "PRAGMA journal_size_limit = \(1 << 24)")
        if let pageCountMax { try db.execute(sql: "PRAGMA max_page_count = \(pageCountMax)") }
    }

    /// Returns the file's faults; empty if it has none. Reads the whole file.
    static func faults(_ db: Database) throws -> [String] {
        do {
            return try String.fetchAll(db, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            // Some damage makes the check itself fail.
            return [error.message ?? "damaged"]
        }
    }

    static func checkTables(_ db: Database, path: String) throws {
        for (table, names) in columns {
            let found = try db.tableExists(table) ? Set(db.columns(in: table).map(\.name)) : []
            let missing = names.filter { !found.contains($0) }
            guard missing.isEmpty else {
                throw CloudStoreError(
                    .damaged,
                    "the store \(path) lacks \(missing.joined(separator: ", ")) in its table \(table). "
                        + "It is left as it is; restore it from a backup")
            }
        }
    }
}

enum Meta: String {
    case epoch
    case tokenFloor = "token_floor"
    /// Present after a restore, while no new lease is granted.
    case restoring
    /// In a backup: its time, in milliseconds since 1970.
    case backup = "backup_ms"
    /// Destination of this store's move, after which the store is never opened again.
    case destination
    /// Time of the move, in milliseconds since 1970.
    case departed = "departed_ms"
    /// Present once the aliases from an earlier version's records are in force.
    case aliases
    case probe
    /// Assumed present date (`BelievedDate`) for computing the ages of tombstones, in milliseconds since 1970.
    case believedDate = "believed_ms"

    func read(_ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [rawValue])
    }

    func write(_ value: String, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            arguments: [rawValue, value])
    }

    func remove(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [rawValue])
    }
}
