import Domain
import GRDB
import Gateway
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// Stores made by earlier versions.
struct MigrationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A file as version 1 made it: with its statements, not those of today's migrator.
    private func makeFirstVersion() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        let queue = try DatabaseQueue(path: folder.store, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: FirstVersion.layout)
            try db.execute(sql: FirstVersion.tables)
            try db.execute(
                sql: """
                    INSERT INTO meter (id, model, is_wanted) VALUES ('AA:BB:CC:DD:EE:FF', 'um25c', 1);
                    INSERT INTO setting (meter, key, value) VALUES ('AA:BB:CC:DD:EE:FF', 'name', 'Desk');
                    INSERT INTO setting (meter, key, value) VALUES ('AA:BB:CC:DD:EE:FF', 'poll-interval', '2s');
                    INSERT INTO setting (meter, key, value) VALUES ('AA:BB:CC:DD:EE:FF', 'notes', NULL);
                    INSERT INTO setting (meter, key, value) VALUES ('usb:2e3c:0049:0042', 'name', 'Bench – ü');
                    """)
        }
        try queue.close()
    }

    private let desk = RecordKey(type: .deviceSettings, name: MeterID.one.description)
    private let bench = RecordKey(type: .deviceSettings, name: MeterID.two.description)

    @Test func settings_areRecords_afterTheUpgrade() async throws {
        try makeFirstVersion()

        let store = try MeterStore.open(path: folder.store)

        let host = try await store.hostIdentity()
        let oldest = Stamp(milliseconds: 0, counter: 0, host: host)
        let records = try await store.records(of: .deviceSettings)
        #expect(records.map(\.key) == [desk, bench])
        #expect(
            records.first?.properties == [
                "name": Register(value: .string("Desk"), stamp: oldest),
                "poll-interval": Register(value: .string("2s"), stamp: oldest),
                "notes": Register(value: .null, stamp: oldest),
            ])
        #expect(try await store.settings(of: .two) == ["name": "Bench – ü"])
        #expect(try await store.meters().map(\.id) == [.one])
        #expect(try await store.progress().pending == 4)
        #expect(try await store.nextBatch(recordsMax: 10, bytesMax: 100_000)?.records == records)
        #expect(try await store.quickCheck() == [])
    }

    @Test func upgradedSettings_loseToAnyRealWrite() async throws {
        try makeFirstVersion()
        let store = try MeterStore.open(path: folder.store)
        let other = HostID(high: 1, low: 1)
        let stamp = Stamp(milliseconds: 1, counter: 0, host: other)
        let theirs = SyncRecord(key: desk, properties: ["name": Register(value: .string("Theirs"), stamp: stamp)])

        _ = try await store.apply(
            .init(type: .deviceSettings, records: [theirs], token: "t", moreComing: false, epoch: "e"))
        try await store.set(["poll-interval": "5s"], for: .one)

        #expect(try await store.settings(of: .one) == ["name": "Theirs", "poll-interval": "5s"])
        #expect(
            try await store.history(of: desk, property: "name", limit: 9).map(\.overwritten.old.value) == [
                .string("Desk")
            ])
    }

    @Test func upgrade_canBeRepeated_whenKilledAtAnyStatement() async throws {
        try makeFirstVersion()
        let recorder = CopyAtEachStatement(folder)
        recorder.isOn.withLock { $0 = true }
        let store = try MeterStore.open(path: folder.store, options: .init(onStatement: recorder.statementBegins))
        recorder.isOn.withLock { $0 = false }
        let whole = try await contents(of: store)

        let copies = try recorder.copies()
        #expect(recorder.moments > 15)
        for copy in copies {
            let store = try MeterStore.open(path: copy)
            #expect(try await contents(of: store) == whole, "\(copy)")
            #expect(try await store.quickCheck() == [])
            try store.close()
        }
    }

    private struct Contents: Hashable {
        var values: [RecordKey: [String: SettingValue]]
        var pending: Int
        var meters: [KnownMeter]
    }

    private func contents(of store: MeterStore) async throws -> Contents {
        let records = try await store.records(of: .deviceSettings)
        return Contents(
            values: Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.properties.mapValues(\.value)) }),
            pending: try await store.progress().pending, meters: try await store.meters())
    }
}

/// What version 1 wrote into an empty file. Never changed: such files are on people's disks.
private enum FirstVersion {
    static let layout = """
        PRAGMA page_size = 512;
        PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA application_id = 1296521009;
        PRAGMA journal_mode = WAL;
        """

    static let tables = """
        CREATE TABLE meter (
            id TEXT PRIMARY KEY NOT NULL,
            model TEXT,
            transport TEXT,
            link TEXT,
            is_declared INTEGER NOT NULL DEFAULT 0,
            is_wanted INTEGER NOT NULL DEFAULT 0,
            last_seen_ms INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE setting (
            meter TEXT NOT NULL,
            key TEXT NOT NULL,
            value TEXT,
            stamp_ms INTEGER NOT NULL DEFAULT 0,
            stamp_counter INTEGER NOT NULL DEFAULT 0,
            stamp_replica TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (meter, key)
        ) STRICT, WITHOUT ROWID;

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

        CREATE INDEX sample_chunk_time ON sample_chunk (meter_ref, first_ms, last_ms);

        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1 meters, settings, sample chunks');
        """
}
