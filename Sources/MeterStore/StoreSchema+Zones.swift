import GRDB

extension StoreSchema {
    /// Creates tables that assign sync progress to a zone, and tables for values that a zone does not list
    /// (Docs/Decisions/0013).
    ///
    /// Progress stored by earlier versions has no zone.
    static func createZoneTables(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The zone that the tokens and the outbox belong to, and how its runs went.
                CREATE TABLE membership (
                    one INTEGER PRIMARY KEY CHECK (one = 1),
                    -- NULL before the first contact, and for progress from before zones had identities.
                    zone TEXT,
                    zone_name TEXT,
                    -- When a run was last complete, by this host's calendar.
                    success_ms INTEGER,
                    -- Runs that failed in a row since then.
                    failures INTEGER NOT NULL DEFAULT 0
                ) STRICT;

                INSERT INTO membership (one) VALUES (1);

                -- Zones that this host was in, and when it last was, by the cloud's calendar.
                CREATE TABLE visit (
                    identity TEXT PRIMARY KEY NOT NULL,
                    name TEXT NOT NULL,
                    server_ms INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                -- Properties that were live and that the cloud did not list ('unlisted'), or that were others' in the
                -- zone before ('zone'). No number is used twice: people name entries by it.
                CREATE TABLE aside (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    type TEXT NOT NULL,
                    name TEXT NOT NULL,
                    reason TEXT NOT NULL CHECK (reason IN ('unlisted', 'zone')),
                    -- '' where it is not known.
                    zone TEXT NOT NULL,
                    zone_name TEXT,
                    -- By this host's own calendar, for people.
                    learned_ms INTEGER NOT NULL,
                    -- The first date known to be right since then, from which it ages. NULL: none yet.
                    aged_from_ms INTEGER,
                    UNIQUE (type, name, reason, zone)
                ) STRICT;

                CREATE TABLE aside_register (
                    aside INTEGER NOT NULL REFERENCES aside (id) ON DELETE CASCADE,
                    property TEXT NOT NULL,
                    kind TEXT NOT NULL CHECK (kind IN ('null', 'bool', 'int', 'double', 'string')),
                    value ANY,
                    stamp_ms INTEGER NOT NULL,
                    stamp_counter INTEGER NOT NULL,
                    stamp_host TEXT NOT NULL,
                    brought_by TEXT,
                    PRIMARY KEY (aside, property)
                ) STRICT, WITHOUT ROWID;

                -- Deletions of zones that this host was in before: not in force here, and not told here.
                CREATE TABLE deletion_elsewhere (
                    zone TEXT NOT NULL,
                    type TEXT NOT NULL,
                    name TEXT NOT NULL,
                    deleted_ms INTEGER NOT NULL,
                    deleted_counter INTEGER NOT NULL,
                    deleted_host TEXT NOT NULL,
                    merged_into TEXT,
                    brought_by TEXT,
                    learned_ms INTEGER,
                    -- It was not told there yet.
                    is_pending INTEGER NOT NULL,
                    PRIMARY KEY (zone, type, name)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
