import Domain
import GRDB
import Gateway
import GatewayAPI
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// What the store promises beyond its ports.
struct SettingsStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func everything_isThere_whenOpenedAgain() async throws {
        let store = try MeterStore.open(path: folder.store, options: .init(machine: .here))
        _ = try await store.apply(.of([SyncRecord(.meter(1), ["a": (.double(-0.0), .minute(0))])], token: "t1"))
        try await store.set(.desk, "name", .string("Shelf"), at: .minute(1))
        try await store.set(.desk, "name", .string("Desk"), at: .minute(2))
        _ = try await store.delete(.meter(1), at: .minute(3))
        try await store.beginRefetch(of: .deviceSettings)
        let before = try await SettingsContents(store)
        try store.close()

        let again = try MeterStore.open(path: folder.store, options: .init(machine: .here))

        #expect(try await SettingsContents(again) == before)
    }

    @Test func recordsOfOlderNames_areFolded_stepByStep() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.set(.desk, "name", .string("Desk"), at: .minute(5))
        // As a program without the normalising ingest left it.
        let stamp = Stamp.minute(1)
        try folder.file.edit(
            """
            INSERT INTO record (type, name) VALUES ('DeviceSettings', '\(RecordKey.oldDesk.name)');
            INSERT INTO register (record, property, kind, value, stamp_ms, stamp_counter, stamp_host)
                VALUES (last_insert_rowid(), 'units', 'string', 'F',
                \(stamp.milliseconds), 0, '\(stamp.host)');
            """)

        let report = try await store.rebuildReport()
        #expect(report.scanned == 2 && report.folded == 1)
        let (old, new) = (RecordKey.oldDesk, RecordKey.desk)
        #expect(
            report.examples == [
                .init(type: old.type.rawValue, from: old.name, into: new.name, moved: ["units"], kept: [])
            ])
        #expect(try await store.record(.oldDesk)?.isTombstone == false, "a report changes nothing")
        var changed: [RecordKey] = []
        for _ in 0..<3 {
            changed += try await store.rebuildStep(recordsMax: 1, at: HostMoment.minute(6).wall).merge.changed
        }

        #expect(Set(changed) == [.desk, .oldDesk])
        let progress = try await store.rebuildProgress()
        #expect(progress.isComplete && progress.folded == 1 && progress.scanned == 2)
        #expect(try await store.record(.desk)?.properties["units"] == Register(value: .string("F"), stamp: stamp))
        #expect(try await store.record(.oldDesk)?.deletion?.mergedInto == RecordKey.desk.name)
        let waiting = try #require(try await store.nextBatch(recordsMax: 9, bytesMax: 10_000)).records
        #expect(Set(waiting.map(\.key)) == [.desk, .oldDesk])
        #expect(try await store.quickCheck() == [])
    }

    /// However far the scan has come: a host of 100,000 records has two hundred steps.
    @Test func rebuild_looksForItsNextRecords_behindTheLast() async throws {
        let statements = Mutex<[String]>([])
        let store = try MeterStore.open(
            path: folder.store, options: .init(onStatement: { sql in statements.withLock { $0.append(sql) } }))
        for number in 1...3 { try await store.set(.meter(number), "name", .string("n"), at: .minute(1)) }

        for _ in 0..<2 { _ = try await store.rebuildStep(recordsMax: 1, at: HostMoment.minute(2).wall) }

        let scans = statements.withLock { $0.filter { $0.hasPrefix("SELECT name FROM record") } }
        #expect(scans.count == 2)
        let plans = try await DatabaseQueue(path: folder.store).read { db in
            try scans.map { sql in
                let values = StatementArguments(sql.filter { $0 == "?" }.map { _ in 1 })
                return try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: values).map {
                    $0["detail"] as String
                }
            }
        }
        #expect(plans.allSatisfy { $0.count == 1 && $0[0].contains("(type=? AND name>?)") }, "\(plans)")
    }

    /// Rows are written several at a time.
    @Test(arguments: [1, 7, 8, 9, 16, 17, 40])
    func propertiesOfAnyNumber_areKept_remembered_andTold(count: Int) async throws {
        let store = try MeterStore.open(path: folder.store)
        func record(_ value: String, at minute: Int) -> SyncRecord {
            SyncRecord(
                .desk,
                Dictionary(
                    uniqueKeysWithValues: (0..<count).map { ("p\($0)", (.string("\(value) \($0)"), .minute(minute))) }))
        }

        _ = try await store.apply(.of([record("old", at: 0)], token: "t1"))
        #expect(try await store.record(.desk) == record("old", at: 0))
        _ = try await store.apply(.of([record("new", at: 1)], token: "t2"))
        #expect(try await store.record(.desk) == record("new", at: 1))
        let lost = try await store.history(of: .desk, property: nil, limit: 1000)
        #expect(Set(lost.map(\.overwritten.old.value)) == Set((0..<count).map { .string("old \($0)") }))
        #expect(lost.count == count)

        let changes = (0..<count).map { SettingChange(key: .desk, property: "p\($0)", value: .int(Int64($0))) }
        _ = try await store.write(changes, at: .minute(2))
        #expect(try await store.progress().pending == count)
        #expect(try await store.record(.desk)?.properties.count == count)
        _ = try await store.delete(.desk, at: .minute(3))
        #expect(try await store.record(.desk)?.isTombstone == true)
        #expect(try await store.progress().pending == 1)
        #expect(try await store.history(of: .desk, property: nil, limit: 1000).count == 3 * count)
    }

    /// The model: the records merged in memory. A deletion takes the properties that are older, and leaves the others.
    @Test(arguments: 1...8) func storedRecord_isWhatMergingMakes(seed: UInt64) async throws {
        let store = try MeterStore.open(path: folder.store)
        var rng = SplitMix64(seed: seed)
        var model = SyncRecord(key: .desk)
        for number in 0..<30 {
            func stamp() -> Stamp { .minute(Int.random(in: 0..<30, using: &rng)) }
            var properties: [String: Register] = [:]
            for property in ["a", "b", "c"] where Bool.random(using: &rng) {
                properties[property] = Register(value: .int(Int64(number)), stamp: stamp())
            }
            let isDeleted = Int.random(in: 0..<3, using: &rng) == 0
            let record = SyncRecord(
                key: .desk, properties: properties, deletion: isDeleted ? Deletion(stamp: stamp()) : nil)
            model = model.merging(record).after

            _ = try await store.apply(.of([record], token: "t\(number)"))

            #expect(try await store.record(.desk) ?? SyncRecord(key: .desk) == model, "seed \(seed), \(number)")
        }
    }

    /// A record that the cloud refused is told again once it has changed: its newer values are to reach the name that it
    /// was folded into.
    @Test func foldedRecord_isToldAgain_alsoAfterItWasRefused() async throws {
        let store = try MeterStore.open(path: folder.store)
        _ = try await store.apply(.of([SyncRecord(.oldDesk, ["a": (.int(1), .minute(0))])], token: "t1"))
        try await store.push(refused: .oldDesk)
        #expect(try await store.progress().parked == 1)

        _ = try await store.apply(.of([SyncRecord(.oldDesk, ["a": (.int(2), .minute(5))])], token: "t2"))

        let waiting = try #require(try await store.nextBatch(recordsMax: 9, bytesMax: 10_000)).records
        #expect(Set(waiting.map(\.key)) == [.desk, .oldDesk])
        #expect(waiting.first { $0.key == .desk }?.properties["a"]?.value == .int(2))
    }

    @Test func parkedRecord_isOutOfTheWay_onceALaterPageHasItWhole() async throws {
        let store = try MeterStore.open(path: folder.store)
        _ = try await store.apply(.of([SyncRecord(.desk, ["p": (.double(.infinity), .minute(0))])], token: "t1"))
        #expect(try await store.progress().parked == 1)

        _ = try await store.apply(.of([SyncRecord(.desk, ["p": (.int(1), .minute(1))])], token: "t2"))

        #expect(try await store.progress().parked == 0)
        #expect(try await store.parkedRecords(limit: 9).isEmpty)
    }

    /// Nothing of it can be lost that anybody would want back.
    @Test func deletionThatIsNotListedAnyMore_isForgotten_andNotParked() async throws {
        let store = try MeterStore.open(path: folder.store)
        let deleted = SyncRecord(key: .desk, deletion: Deletion(stamp: .minute(1)))
        _ = try await store.apply(.of([deleted], token: "t1"))
        #expect(try await store.record(.desk)?.isTombstone == true)

        try await store.beginRefetch(of: .deviceSettings)
        let outcome = try await store.apply(.of([], token: "t2"))

        #expect(outcome.parked == 0)
        #expect(try await store.record(.desk) == nil)
        #expect(try await store.progress().parked == 0)
    }

    @Test func parkedRecords_areShown_andToldAgainWhenAsked() async throws {
        let store = try MeterStore.open(path: folder.store)
        _ = try await store.apply(.of([SyncRecord(.meter(1), ["a\u{0}b": (.int(7), .minute(0))])], token: "t1"))
        try await store.set(.desk, "name", .string("Desk"), at: .minute(1))
        try await store.push(refused: .desk)

        let parked = try await store.parkedRecords(limit: 10)

        #expect(parked.map(\.origin) == [.push, .page])
        #expect(parked.first?.name == RecordKey.desk.name && parked.first?.reason == "refused")
        #expect(parked.last?.reason.contains("a\\u{0}b") == true, "\(parked)")
        #expect(parked.last?.raw.contains(#""value":"7""#) == true)
        #expect(try await store.progress().pending == 0)
        #expect(try await store.retryParked() == 1)
        #expect(try await store.progress().pending == 1)
        #expect(try await store.parkedRecords(limit: 10).map(\.origin) == [.page])
    }

    @Test func history_isBounded() async throws {
        let store = try MeterStore.open(path: folder.store)
        let changes = (0...250).map { SettingChange(key: .desk, property: "a", value: .int(Int64($0))) }
        _ = try await store.write(changes, at: .minute(0))

        let history = try await store.history(of: .desk, property: "a", limit: 1000)

        #expect(history.map(\.overwritten.old.value) == (150..<250).reversed().map { .int(Int64($0)) })
    }

    /// It stands behind what this host wrote before it, and so even a deletion whose time was right can move.
    @Test func deletionThatMoved_hidesWhatIsOlderNow_andTheHistoryHasIt() async throws {
        let store = try MeterStore.open(path: folder.store, options: .init(machine: .here))
        func moment(_ minute: Int, off seconds: Int64) -> HostMoment {
            let right = HostMoment.minute(minute)
            return HostMoment(wall: right.wall + .seconds(seconds), sinceBoot: right.sinceBoot)
        }
        try await store.set(.bench, "name", .string("Bench"), at: moment(1, off: -1_000_000))
        try await store.set(.desk, "name", .string("Desk"), at: moment(1, off: -50))
        _ = try await store.delete(.desk, at: moment(1, off: -50))
        let between = Stamp(milliseconds: HostMoment.minute(0).milliseconds + 30_000, counter: 0, host: .other)
        _ = try await store.apply(.of([SyncRecord(.desk, ["theirs": (.int(9), between)])], token: "t1"))
        #expect(try await store.record(.desk)?.properties.count == 1)

        try await store.correct(clockOffset: .seconds(50), at: moment(2, off: -50))

        let desk = try #require(try await store.record(.desk))
        #expect(desk.isTombstone)
        let deletion = try #require(desk.deletion).stamp
        #expect(deletion.milliseconds == HostMoment.minute(1).milliseconds)
        let hidden = try await store.history(of: .desk, property: "theirs", limit: 9).map(\.overwritten)
        #expect(hidden.map(\.old) == [Register(value: .int(9), stamp: between)])
        #expect(hidden.map(\.by) == [deletion])
    }

    @Test func localTime_isWhenOthersChangesWereLearned() async throws {
        let store = try MeterStore.open(
            path: folder.store, options: .init(calendar: { HostMoment.minute(77).wall }))
        try await store.set(.desk, "name", .string("Desk"), at: .minute(1))
        _ = try await store.apply(.of([SyncRecord(.desk, ["name": (.string("Theirs"), .minute(5))])], token: "t1"))

        #expect(try await store.history(of: .desk, property: nil, limit: 9).map(\.at) == [HostMoment.minute(77).wall])
    }

    /// The outbox keeps a record from being removed: no clean-up can take along what was not pushed.
    @Test func record_cannotGo_whileItWaits() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.set(.desk, "name", .string("Desk"), at: .minute(1))
        #expect(throws: DatabaseError.self) { try folder.file.edit("DELETE FROM record") }
    }
}
