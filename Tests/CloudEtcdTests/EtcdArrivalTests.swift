import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import Logging
import MeterTestKit
import Synchronization
import Testing

@testable import CloudEtcd

/// A cloud that moves from a file into a real etcd.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdArrivalTests {
    private static let server = Result { try EtcdServer.started() }
    private static let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private let folder: TemporaryFolder
    private let settings: EtcdSettings

    init() throws {
        folder = try TemporaryFolder()
        var settings = try Self.server.get().settings
        settings.prefix = "\(folder.path.replacing("/", with: "-"))/"
        self.settings = settings
    }

    private func file(opensDeparted: Bool = false) throws -> SQLiteCloudEngine {
        var options = SQLiteCloudEngine.Options()
        options.opensDeparted = opensDeparted
        var rng = SystemRandomNumberGenerator()
        return try SQLiteCloudEngine.open(
            directory: folder.path + "/cloud", now: .origin, rng: &rng, options: options)
    }

    private func arrive(_ store: some DepartingStore) async throws -> EtcdArrival {
        var rng = SystemRandomNumberGenerator()
        return try await EtcdArrival.run(
            from: store, to: settings, at: Self.now, clock: .real, rng: &rng,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, progress: { _ in })
    }

    private func stamp(_ after: Int64) -> Stamp {
        Stamp(milliseconds: UInt64(Self.now.millisecondsSince1970 + after), counter: 0, host: .numbered(1))
    }

    private func record(_ name: String, _ value: Int64, type: RecordType = .deviceSettings) -> SyncRecord {
        SyncRecord(
            key: RecordKey(type: type, name: name),
            properties: ["name": Register(value: .int(value), stamp: stamp(value))])
    }

    private func tombstone(_ name: String, after: Int64) -> SyncRecord {
        SyncRecord(key: RecordKey(type: .deviceSettings, name: name), deletion: Deletion(stamp: stamp(after)))
    }

    private func acquire(
        _ meter: String, by host: UInt64, of engine: any CloudEngine, in zone: String = "home", takeover: Bool = false,
        at time: MonotonicTime = .origin
    ) async throws -> LeaseAnswer {
        let limits = try await engine.leaseLimits(at: time)
        let request = LeaseAcquire(
            requestID: .numbered(host), host: .numbered(host), hostName: "host \(host)", session: .numbered(host),
            previousSession: nil, timeToLive: .seconds(120), transport: .ble, policy: .keep)
        let circumstances = LeaseCircumstances(
            now: time, wallNow: Self.now, terms: .standard, grantsNothingNewBefore: limits.grantsNothingNewBefore,
            tokenFloor: limits.tokenFloor)
        return try await engine.decideLease(of: meter, in: zone) {
            var request = request
            // From whoever has it.
            if takeover { request.takeover = $0.record?.token }
            return LeaseRules.acquire(request, of: $0, in: circumstances)
        }
    }

    /// Two zones, and of everything some.
    private func fill(_ engine: SQLiteCloudEngine) async throws {
        _ = try await engine.createZone("home", terms: .standard)
        let terms = LeaseTerms(timeToLive: .seconds(60), lockDelay: .seconds(20), policy: .strict)
        _ = try await engine.createZone("lab", terms: terms)
        for (id, host) in [("1", UInt64(1)), ("2", 2), ("3", 2)] {
            var credential = Credential(
                id: id, hash: Array(id.utf8), zone: "home", kind: .host, role: id == "2" ? .readOnly : .full,
                label: "of \(id)", createdAt: Self.now)
            credential.binding = Credential.Binding(host: .numbered(host), hostName: "h", machine: "machine \(host)")
            try await engine.add(credential)
        }
        _ = try await engine.revoke(credential: "3", at: Self.now + .seconds(5))
        try await engine.add(
            Credential(
                id: "4", hash: [0, 255, 1], zone: "lab", kind: .enrolment, role: .readOnly, label: "é/\"",
                createdAt: Self.now))
        _ = try await engine.modify(
            (1...20).map { record("m\($0)", Int64($0)) } + [
                record("odd/%2F name", 3, type: RecordType(rawValue: "a/b%"))
            ],
            in: "home", now: Self.now)
        _ = try await engine.modify([record("m3", 500), tombstone("m4", after: 600)], in: "home", now: Self.now)
        _ = try await engine.modify([record("only", 1)], in: "lab", now: Self.now)
        _ = try await engine.purgeTombstones(before: Self.now + .seconds(-1), dating: Self.now)
        for meter in ["a", "b", "c"] { _ = try await acquire(meter, by: 1, of: engine) }
        guard case .granted(let freed) = try await acquire("d", by: 1, of: engine) else { return }
        _ = try await engine.decideLease(of: "d", in: "home") {
            LeaseRules.release(freed.token, session: .numbered(1), of: $0)
        }
        _ = try await acquire("a", by: 2, of: engine, takeover: true)
    }

    @Test func everything_isThere_andTheFileIsClosedForGood() async throws {
        let source = try file()
        try await fill(source)
        let before = try await CloudContents(of: source)
        let token = try await source.changes(of: .deviceSettings, in: "home", after: nil, limit: 10).token

        let arrival = try await arrive(source)

        try source.close()
        #expect(!arrival.wasThere)
        #expect((arrival.zones, arrival.credentials, arrival.records, arrival.leases) == (2, 4, 22, 4))
        let error = #expect(throws: CloudStoreError.self) { _ = try file() }
        #expect(error?.code == .departed)
        let engine = try await EtcdCloudEngine.open(settings)
        #expect(try await CloudContents(of: engine) == before)
        // A host that had half of it gets the other half, and no more.
        let rest = try await engine.changes(of: .deviceSettings, in: "home", after: token, limit: 100)
        #expect(rest.records.count == 10)
        #expect(!rest.moreComing)
        try await goesOn(engine, after: before)
        // The timeline went along: it goes on with a new mark, and what was read under the old one stays good.
        let last = try await engine.changes(of: .deviceSettings, in: "home", after: token, limit: 100)
        #expect(token.origin?.mark == 1)
        #expect(last.token.origin?.mark == 2)
        await engine.close()
    }

    /// Writers, holders and tombstones find what they need.
    private func goesOn(_ engine: EtcdCloudEngine, after before: CloudContents) async throws {
        let home = try #require(before.zones.first { $0.name == "home" })
        let outcome = try await engine.modify([record("m4", 700)], in: "home", now: Self.now)[0]
        #expect(outcome.fate == .changed(sequence: home.sequence + 1))
        // What was a tombstone is none, so its age is no reason to delete it.
        #expect(try await engine.purgeTombstones(before: Self.now + .seconds(1_000_000)) == 0)
        #expect(try await engine.record(RecordKey(type: .deviceSettings, name: "m4"), in: "home") == outcome.record)
        let held = try #require(before.leases.first { $0.meter == "b" })
        let renewed = try await engine.renewLeases(
            [(meter: "b", token: held.token)], session: .numbered(1), in: "home", under: .keep, at: .origin)
        guard case .renewed = renewed[0] else {
            Issue.record("the holder was not known: \(renewed)")
            return
        }
        guard case .refused = try await acquire("b", by: 2, of: engine) else {
            Issue.record("a held lease was given away")
            return
        }
        let freed = try #require(before.leases.first { $0.meter == "d" })
        guard case .granted(let next) = try await acquire("d", by: 2, of: engine) else {
            Issue.record("a free lease was refused")
            return
        }
        #expect(next.token > freed.token)
        let binding = Credential.Binding(host: .numbered(1), hostName: "h", machine: "another machine")
        try await engine.add(
            Credential(id: "5", hash: [5], zone: "home", kind: .host, label: "", createdAt: Self.now))
        let failure = await #expect(throws: CloudFailure.self) { try await engine.bind(binding, to: "5") }
        #expect(failure?.code == .duplicateHost)
    }

    @Test func longZones_arrive_inPages() async throws {
        let source = try file()
        _ = try await source.createZone("home", terms: .standard)
        for start in stride(from: 0, to: 2500, by: 500) {
            _ = try await source.modify(
                (start..<start + 500).map { record("m\($0)", Int64($0)) }, in: "home", now: Self.now)
        }
        for number in 0..<1300 { _ = try await acquire("m\(number)", by: 1, of: source) }
        let before = try await CloudContents(of: source)

        let arrival = try await arrive(source)

        try source.close()
        #expect((arrival.records, arrival.leases) == (2500, 1300))
        let engine = try await EtcdCloudEngine.open(settings)
        #expect(try await CloudContents(of: engine) == before)
        await engine.close()
    }

    /// Wherever it stops, one of the two stores can be opened at most, and the next attempt brings all of it.
    @Test(arguments: 0...8)
    func interruptedMove_isFinished_byTheNext(_ callsLeft: Int) async throws {
        let source = try file()
        try await fill(source)
        let interrupted = InterruptedStore(store: source, callsLeft: callsLeft)
        await #expect(throws: InterruptedStore.Interruption.self) { _ = try await arrive(interrupted) }
        let isDeparted = try await source.contents().destination != nil
        if !isDeparted {
            // It goes on, and what the first attempt brought is old.
            _ = try await source.modify([record("m1", 900), record("new", 1)], in: "home", now: Self.now)
        }
        let before = try await CloudContents(of: source)
        try source.close()
        if isDeparted {
            #expect(throws: CloudStoreError.self) { try file() }
        } else {
            try file().close()
        }
        if callsLeft > 0 {
            let error = await #expect(throws: EtcdError.self) { _ = try await EtcdCloudEngine.open(settings) }
            #expect(error?.code == .badSetting)
        }

        let again = try file(opensDeparted: true)
        _ = try await arrive(again)

        try again.close()
        #expect(throws: CloudStoreError.self) { _ = try file() }
        let engine = try await EtcdCloudEngine.open(settings)
        #expect(try await CloudContents(of: engine) == before)
        await engine.close()
    }

    @Test func finishedMove_isKnownAgain_andNothingIsWritten() async throws {
        let source = try file(opensDeparted: true)
        try await fill(source)
        _ = try await arrive(source)
        let engine = try await EtcdCloudEngine.open(settings)
        _ = try await engine.modify([record("later", 1)], in: "home", now: Self.now)
        let after = try await CloudContents(of: engine)

        let again = try await arrive(source)

        try source.close()
        #expect(again.wasThere)
        #expect(try await CloudContents(of: engine) == after)
        await engine.close()
    }

    @Test func move_isRefused_whereACloudIs_orSomethingElse_orWhatWasThereIsGone() async throws {
        let source = try file(opensDeparted: true)
        try await fill(source)
        let client = try EtcdClient(
            settings, clock: .real, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let key = Array("\(settings.prefix)what".utf8)
        _ = try await client.commit(EtcdTransaction(success: [.put(key: key, value: [1])]))
        let foreign = await #expect(throws: EtcdError.self) { _ = try await arrive(source) }
        #expect(foreign?.message.contains("something under the prefix") == true)
        _ = try await client.commit(EtcdTransaction(success: [.delete(key: key)]))
        let other = try await EtcdCloudEngine.open(settings)
        await other.close()
        let cloud = await #expect(throws: EtcdError.self) { _ = try await arrive(source) }
        #expect(cloud?.message.contains("has a cloud under the prefix") == true)
        #expect(try await source.contents().destination == nil)
        let wipe = EtcdTransaction(success: [.deleteAll(prefix: Array(settings.prefix.utf8))])
        _ = try await client.commit(wipe)
        _ = try await arrive(source)
        _ = try await client.commit(wipe)
        let gone = await #expect(throws: EtcdError.self) { _ = try await arrive(source) }
        #expect(gone?.message.contains("is not there any more") == true)
        await client.shutdown()
        try source.close()
    }

    @Test func twoMoves_doNotMix() async throws {
        let source = try file()
        try await fill(source)
        let keys = StoreKeys(prefix: settings.prefix)
        let contents = try await source.contents()
        let client = try EtcdClient(
            settings, clock: .real, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let gate = MigrationLock(client: client, keys: keys, prefix: settings.prefix)
        let first = try #require(try await gate.begin(contents, attempt: "one"))
        let second = try #require(try await gate.begin(contents, attempt: "two"))
        var load = ArrivalLoad(client: client, guarding: EtcdCompare(key: keys.arriving, revision: first))

        let late = await #expect(throws: EtcdError.self) {
            try await load.put([EtcdPut(key: keys.zone("x"), value: [1])])
        }

        #expect(late?.code == .overloaded)
        await #expect(throws: EtcdError.self) { try await gate.clear(first) }
        await #expect(throws: EtcdError.self) { try await gate.open(contents, first) }
        try await gate.clear(second)
        await client.shutdown()
        try source.close()
    }

    @Test func whatIsNotAsItWasWritten_isFound() async throws {
        let keys = StoreKeys(prefix: settings.prefix)
        let client = try EtcdClient(
            settings, clock: .real, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var load = ArrivalLoad(client: client, guarding: EtcdCompare(key: keys.arriving, revision: 0))
        try await load.put((0..<250).map { EtcdPut(key: keys.zone("z\($0)"), value: [UInt8($0 % 7)]) })
        try await load.check(keys)
        _ = try await client.commit(EtcdTransaction(success: [.put(key: keys.zone("z7"), value: [9])]))

        let error = await #expect(throws: EtcdError.self) { try await load.check(keys) }
        _ = try await client.commit(EtcdTransaction(success: [.put(key: keys.zone("more"), value: [9])]))
        let more = await #expect(throws: EtcdError.self) { try await load.check(keys) }

        #expect(error?.code == .damaged)
        #expect(error?.message.hasPrefix("etcd has 250 keys after 250 were written, or other keys") == true)
        #expect(more?.message.hasPrefix("etcd has 251 keys after 250 were written") == true)
        await client.shutdown()
    }
}

/// Fails at one call, and at `depart` once it is done.
private final class InterruptedStore: DepartingStore {
    struct Interruption: Error {}

    private let store: SQLiteCloudEngine
    private let callsLeft: Mutex<Int>

    init(store: SQLiteCloudEngine, callsLeft: Int) {
        self.store = store
        self.callsLeft = Mutex(callsLeft)
    }

    private func count() throws {
        try callsLeft.withLock { left in
            guard left > 0 else { throw Interruption() }
            left -= 1
        }
    }

    func contents() async throws -> StoreContents {
        try count()
        return try await store.contents()
    }

    func leases(in zone: String, after meter: String?, limit: Int) async throws -> [(
        meter: String, record: LeaseRecord
    )] {
        try count()
        return try await store.leases(in: zone, after: meter, limit: limit)
    }

    func records(in zone: String, after sequence: UInt64, limit: Int) async throws -> [PlacedRecord] {
        try count()
        return try await store.records(in: zone, after: sequence, limit: limit)
    }

    func depart(to destination: String, at now: WallTime) async throws {
        try await store.depart(to: destination, at: now)
        throw Interruption()
    }
}
