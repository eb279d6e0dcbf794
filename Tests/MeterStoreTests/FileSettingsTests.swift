import Domain
import Foundation
import GRDB
import Gateway
import GatewayAPI
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

@testable import MeterStore

/// How the file is set up, how much one transaction does, and what a file says about itself.
struct FileSettingsTests {
    private let folder: TemporaryFolder
    private let always = WallTime(millisecondsSince1970: .max)

    init() throws { folder = try TemporaryFolder() }

    private func expectSettings(_ store: MeterStore, _ when: String) async throws {
        let settings: [(name: String, value: Int)] = [
            ("application_id", 0x4D47_5731), ("page_size", 512), ("auto_vacuum", 2), ("synchronous", 1),
            ("cache_size", -512), ("wal_autocheckpoint", 1024), ("journal_size_limit", 1 << 20), ("secure_delete", 0),
            ("max_page_count", 5000), ("busy_timeout", 2000), ("foreign_keys", 1),
        ]
        for (name, value) in settings {
            let found = try await store.access("read") { try Int.fetchOne($0, sql: "PRAGMA \(name)") }
            #expect(found == value, "\(name), \(when)")
        }
    }

    /// What waits for the disk does so once: what is written after it is not slower, also where it failed.
    @Test func file_isSetUpAsItWasMeasured_atEachOpening_andAfterEachWrite() async throws {
        for when in ["at first", "opened again"] {
            let store = try MeterStore.open(path: folder.store, options: .init(pageCountMax: 5000))
            try await expectSettings(store, when)
            try await store.set(["name": when], for: .one)
            try await expectSettings(store, "\(when), after a wish")
            await #expect(throws: StoreError.self) { try await store.set(["bad name": "x"], for: .one) }
            try await expectSettings(store, "\(when), after one that was refused")
            try store.close()
        }
    }

    @Test func lock_isReadByEverybody_andRunByNobody() throws {
        let store = try MeterStore.open(path: folder.store)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.store + ".lock")[.posixPermissions] as? Int
        #expect((mode ?? 0) & 0o600 == 0o600)
        #expect((mode ?? 0o777) & 0o133 == 0)
        try store.close()
    }

    // MARK: Steps

    /// A chunk of a single reading.
    private func chunk(_ number: Int, of meter: MeterID) -> SampleChunk? {
        var builder = SampleChunkBuilder(meter: meter)
        var reading = Reading()
        reading[.voltage] = 5
        builder.append(WallTime(millisecondsSince1970: 1_795_000_000_000 + Int64(number) * 60_000), reading)
        return builder.finish()
    }

    /// Others can write between two transactions: none deletes more than 500 chunks, whosever they are.
    @Test func deletion_goesInStepsOfFiveHundred_overAllMeters() async throws {
        let deletions = Mutex<[Int]>([])
        let store = try MeterStore.open(
            path: folder.store,
            options: .init(onStatement: { sql in
                deletions.withLock {
                    if sql.hasPrefix("BEGIN") { $0.append(0) }
                    if sql.hasPrefix("DELETE FROM sample_") { $0[$0.count - 1] += 1 }
                }
            }))
        func steps(_ body: () async throws -> Int) async throws -> (readings: Int, steps: [Int]) {
            try await store.append((0..<300).flatMap { n in [MeterID.one, .two].compactMap { chunk(n, of: $0) } })
            deletions.withLock { $0 = [] }
            let readings = try await body()
            return (readings, deletions.withLock { $0 }.filter { $0 > 0 })
        }
        let never = WallTime(millisecondsSince1970: .min)

        let old = try await steps { try await store.prune(before: always, maxBytes: .max) }
        #expect(old == (600, [500, 100]))
        let surplus = try await steps { try await store.prune(before: never, maxBytes: 0) }
        #expect(surplus == (600, [500, 100]))
        let ofOne = try await steps { try await store.deleteReadings(of: .one) }
        #expect(ofOne == (300, [300]))
        #expect(try await store.allSamples(of: .two).count == 300)
        try store.close()
    }

    // MARK: Contents

    @Test func history_isBoundedInAll_whateverItIsOf() async throws {
        let store = try MeterStore.open(path: folder.store)
        let now = HostMoment.minute(0).wall
        try folder.file.edit(
            """
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100003)
            INSERT INTO history (id, type, name, property, kind, stamp_ms, stamp_counter, stamp_host, by_ms, by_counter,
                by_host, learned_ms)
            SELECT n, 'DeviceSettings', 'm' || n, 'a', 'null', 1, 0, '', 2, 0, '', \(now.millisecondsSince1970)
            FROM number
            """)

        for _ in 0..<2 {
            try await store.cleanUp(now: now)
            let left = try await store.access("read") {
                try Int.fetchAll($0, sql: "SELECT count(*) FROM history UNION ALL SELECT min(id) FROM history")
            }
            #expect(left == [100_000, 4], "the latest")
        }
        try store.close()
    }

    /// What people have edited, and what other programs wrote into it.
    @Test func check_namesWhatFitsNothing() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.set(["name": "Desk", "note": "x"], for: .one)
        try await store.set(.bench, "name", .string("Bench"), at: .minute(1))
        _ = try await store.delete(.bench, at: .minute(2))
        #expect(try await store.quickCheck() == [])

        try folder.file.edit("UPDATE outbox SET stamp_ms = stamp_ms + 1 WHERE property = 'name'")
        #expect(try await store.quickCheck() == ["1 entries of the outbox match nothing in their records"])
        try folder.file.edit("UPDATE outbox SET stamp_counter = stamp_counter + 1 WHERE property = 'note'")
        #expect(try await store.quickCheck() == ["2 entries of the outbox match nothing in their records"])
        try folder.file.edit("DELETE FROM outbox")
        #expect(try await store.quickCheck() == [])
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: folder.store, configuration: configuration)
        try await queue.write { db in try db.execute(sql: "DELETE FROM record") }
        try queue.close()
        #expect(Set(try await store.quickCheck()) == ["register refers to nothing"])
        try store.close()
    }

    struct Stored: CustomStringConvertible, Sendable {
        var kind: String
        var sql: String
        /// Nil if it does not fit its kind.
        var value: SettingValue?

        init(_ kind: String, _ sql: String, _ value: SettingValue?) {
            (self.kind, self.sql, self.value) = (kind, sql, value)
        }

        var description: String { "\(kind) \(sql)" }
    }

    private static let values = [
        Stored("null", "NULL", .null), Stored("null", "7", .null), Stored("bool", "0", .bool(false)),
        Stored("bool", "1", .bool(true)), Stored("bool", "2", .bool(true)), Stored("bool", "'true'", nil),
        Stored("bool", "NULL", nil), Stored("int", "-9", .int(-9)), Stored("int", "1.5", nil),
        Stored("int", "'1'", nil), Stored("int", "NULL", nil), Stored("double", "2.5", .double(2.5)),
        Stored("double", "5", .double(5)), Stored("double", "'1'", nil), Stored("double", "NULL", nil),
        Stored("string", "'x'", .string("x")), Stored("string", "''", .string("")),
        Stored("string", "x'780079'", .string("x\u{0}y")), Stored("string", "1", nil), Stored("string", "NULL", nil),
    ]

    @Test(arguments: values)
    func value_isRead_whereItFitsItsKind_andIsDamagedElsewhere(_ stored: Stored) async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.set(.desk, "a", .string("before"), at: .minute(0))
        try folder.file.edit("UPDATE register SET kind = '\(stored.kind)', value = \(stored.sql)")

        if let value = stored.value {
            #expect(try await store.record(.desk)?.properties["a"]?.value == value)
            #expect(try await store.records(of: .deviceSettings).first?.properties["a"]?.value == value)
        } else {
            let error = await #expect(throws: StoreError.self) { _ = try await store.record(.desk) }
            #expect(error?.code == .damaged)
        }
        try store.close()
    }

    // MARK: Lists

    /// The latest first, also among those of one moment; and of none, none.
    @Test func lists_areNoLongerThanAsked_andBeginWithTheLatest() async throws {
        let store = try MeterStore.open(
            path: folder.store, options: .init(calendar: { HostMoment.minute(7).wall }))
        let bad = (1...3).map { SyncRecord(.meter($0), ["a\u{1F}b c": (.int(Int64($0)), .minute(0))]) }
        _ = try await store.apply(.of(bad, token: "t1"))
        for value in 0..<4 { try await store.set(.desk, "a", .int(Int64(value)), at: .minute(1)) }

        for (limit, count) in [(9, 3), (3, 3), (2, 2), (1, 1), (0, 0), (-1, 0)] {
            let names = (1...3).reversed().prefix(count).map { RecordKey.meter($0).name }
            #expect(try await store.parked(limit: limit).map(\.name) == names, "\(limit)")
            #expect(try await store.parkedRecords(limit: limit).map(\.name) == names, "\(limit)")
            let history = try await store.history(of: .desk, property: nil, limit: limit)
            let values = [2, 1, 0].prefix(count).map { SettingValue.int($0) }
            #expect(history.map(\.overwritten.old.value) == values, "\(limit)")
        }
        let last = try #require(try await store.parkedRecords(limit: 1).first)
        #expect(last.type == "DeviceSettings")
        #expect(last.at == HostMoment.minute(7).wall)
        #expect(last.reason.contains("a\\u{1f}b c"), "\(last.reason)")
        #expect(last.raw.hasPrefix(#"{"name":"\#(RecordKey.meter(3).name)","properties":{"a"#), "\(last.raw)")
        #expect(last.raw.contains(#""kind":"int""#))
        #expect(last.raw.hasSuffix(#""type":"DeviceSettings"}"#))
        try store.close()
    }

    /// A later version may keep what this one cannot: with each value as it came.
    @Test func recordSetAside_comesBackWithEachKindOfValue_onceItCanBeKept() async throws {
        let store = try MeterStore.open(path: folder.store)
        let values: [String: SettingValue] = [
            "a": .null, "b": .bool(true), "c": .bool(false), "d": .int(-7), "e": .double(2.5), "f": .string("null"),
        ]
        let name = String(repeating: "x", count: SyncRecord.nameBytesMax + 1)
        let record = SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: values.mapValues { Register(value: $0, stamp: .minute(0)) })
        _ = try await store.apply(.of([record], token: "t1"))
        let id = try #require(try await store.parked(limit: 1).first?.id)
        guard case .nothing(let reason) = try await store.restoreParked(id) else {
            Issue.record("its name is still too long")
            return
        }
        #expect(reason.contains("cannot name a record"), "\(reason)")
        try folder.file.edit("UPDATE parked SET raw = replace(raw, '\(name)', '\(RecordKey.desk.name)')")

        guard case .restored(let count, _) = try await store.restoreParked(id) else {
            Issue.record("it can be kept now")
            return
        }

        #expect(count == values.count)
        #expect(try await store.record(.desk)?.properties.mapValues(\.value) == values)
        try store.close()
    }

    // MARK: Batches

    /// The fewest bytes with which a batch has both records.
    private func room(_ second: SettingValue) async throws -> Int {
        let store = try MeterStore.open(path: "\(folder.path)/\(UUID()).db")
        try await store.set(.desk, "a", .null, at: .minute(0))
        try await store.set(.bench, "b", second, at: .minute(1))
        var (few, many) = (0, 4096)
        while few + 1 < many {
            let middle = (few + many) / 2
            let batch = try await store.nextBatch(recordsMax: 9, bytesMax: middle)
            if batch?.records.count == 2 { many = middle } else { few = middle }
        }
        try store.close()
        return many
    }

    /// As they are written as JSON, or a little more: a record of exactly the greatest length goes along.
    @Test func batch_countsTheBytesOfEachCharacter() async throws {
        let empty = try await room(.string(""))

        #expect(empty == 2 * (64 + 120 + 120) + 2 * 16 + 19 + 20 + 2 * 3 + 32 + 2)
        for (text, bytes) in [
            ("x", 1), (" ", 1), ("ü", 2), ("\"", 2), ("\\", 2), ("\n", 6), ("\u{1F}", 6), ("\u{9B}", 6), ("xy\"", 4),
        ] {
            #expect(try await room(.string(text)) - empty == bytes, "\(text.debugDescription)")
        }
        #expect(try await room(.int(7)) - empty == 30)
    }
}
