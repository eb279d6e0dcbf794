import CoreTestKit
import Domain
import Gateway
import GatewayAPI
import Logging
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// One host that syncs with a scripted cloud, in virtual time.
struct SyncBench {
    let loop: VirtualLoop
    let cloud: ScriptedCloud
    let store: HandledStore
    let network = ScriptedNetwork()
    let log = LogBook()
    let host: HostID

    init(host: HostID = .first, loop: VirtualLoop = VirtualLoop(), cloud: ScriptedCloud? = nil) {
        self.host = host
        self.loop = loop
        store = HandledStore(host: host, loop: loop)
        self.cloud = cloud ?? ScriptedCloud(loop: loop)
    }

    func engine(
        timing: SyncTiming = SyncTiming(), changed: @escaping @Sendable (MergeOutcome) async -> Void = { _ in },
        heard: @escaping @Sendable (CloudEvent) async -> Void = { _ in },
        hostName: @escaping @Sendable (HostID) async -> String? = { _ in nil }
    ) -> SyncEngine {
        SyncEngine(
            zone: "home", host: host, timing: timing, bringsAll: false,
            dependencies: SyncEngine.Dependencies(
                link: cloud.link(for: host), repository: store, loop: loop, network: network, rng: SeededRNG(seed: 7),
                changed: changed, heard: heard, hostName: hostName), logger: log.logger)
    }

    /// Runs an engine alongside `body`, and stops it afterwards.
    func running<Result: Sendable>(
        _ engine: SyncEngine, _ body: (inout SyncResults) async throws -> Result
    ) async throws -> Result {
        var results = SyncResults(engine)
        async let running: Void = engine.run()
        do {
            let result = try await body(&results)
            await engine.stop()
            await running
            return result
        } catch {
            await engine.stop()
            await running
            throw error
        }
    }
}

/// The results of an engine's runs, one after the other.
struct SyncResults {
    private var iterator: Feed<SyncResult>.Subscription.Iterator
    /// The number of the last result that was taken.
    private(set) var lastRun: UInt64 = 0

    init(_ engine: SyncEngine) { iterator = engine.results.subscribe().makeAsyncIterator() }

    mutating func next() async throws -> SyncResult {
        let result = try #require(await iterator.next()).value
        lastRun = result.run
        return result
    }
}

extension SyncBench {
    /// Lets time pass from one moment at which the engine wants to be woken to the next, until a run is over. While
    /// work is under way no time passes, however slow the machine is.
    @discardableResult
    func passUntilResult(_ engine: SyncEngine, _ results: inout SyncResults) async throws -> SyncResult {
        let patience = Patience("a run is over")
        while true {
            let report = await engine.report()
            if let last = report.status.lastResult, last.run > results.lastRun { return try await results.next() }
            let isResting = report.status.mode == .idle || report.status.mode == .waiting
            if isResting, !report.status.stream.isOpening, let wake = report.nextWake, wake > loop.now {
                loop.advance(by: wake - loop.now)
            }
            try await patience.turn()
        }
    }
}

extension SyncBench {
    /// Returns once the engine has learned of it.
    func setNetwork(isSatisfied: Bool, seenBy engine: SyncEngine) async throws {
        network.set(isSatisfied: isSatisfied)
        try await eventually("the engine hears of the network") {
            await engine.report().network?.isSatisfied == isSatisfied
        }
    }
}

extension SyncStream {
    var isOpening: Bool { if case .opening = self { true } else { false } }
}

/// A network that is available when a test says so.
final class ScriptedNetwork: NetworkMonitor {
    private let state = Mutex<(path: NetworkPath, report: (@Sendable (NetworkPath) -> Void)?)>(
        (NetworkPath(isSatisfied: true, interface: "eth0", kind: .wired), nil))

    func run(_ report: @escaping @Sendable (NetworkPath) -> Void) async {
        report(
            state.withLock { state in
                state.report = report
                return state.path
            })
        for await _ in AsyncStream<Never>.makeStream().stream {}
    }

    func set(isSatisfied: Bool) {
        let path = isSatisfied ? NetworkPath(isSatisfied: true, interface: "eth0", kind: .wired) : .lost
        let report = state.withLock { state in
            state.path = path
            return state.report
        }
        report?(path)
    }
}

/// A store under a test's control: watched, delayed, failing.
final class HandledStore: SyncRepository {
    private struct State {
        var onCall: @Sendable () async -> Void = {}
        var failures: [StoreError] = []
        var cleanUps = 0
        var dates: [WallTime] = []
        var offsets: [Duration] = []
    }

    let settings: MeterStore
    private let state = Mutex(State())
    private let loop: any SessionLoop

    init(host: HostID, loop: any SessionLoop) {
        settings = .temporary(of: host)
        self.loop = loop
    }

    /// Sets what runs within each call before it does anything.
    func onCall(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.onCall = body } }

    /// Makes the next call fail; the one after it with the second error, and so on.
    func fail(with errors: StoreError...) { state.withLock { $0.failures += errors } }

    var cleanUps: Int { state.withLock { $0.cleanUps } }
    /// The dates from which things aged, in the order of the calls.
    var dates: [WallTime] { state.withLock { $0.dates } }
    var offsets: [Duration] { state.withLock { $0.offsets } }

    /// All records that are not deleted.
    var records: [RecordKey: SyncRecord] {
        get async throws {
            var records: [RecordKey: SyncRecord] = [:]
            for type in RecordType.known {
                for record in try await settings.records(of: type) { records[record.key] = record }
            }
            return records
        }
    }

    /// Writes as a person on this host does.
    func write(_ number: Int, _ value: Int64 = 1) async throws {
        let change = SettingChange(key: SyncRecord.setting(number).key, property: "v", value: .int(value))
        _ = try await settings.write([change], at: HostMoment(wall: loop.wallNow, sinceBoot: loop.now))
    }

    private func begin() async throws {
        await state.withLock { $0.onCall }()
        if let failure = state.withLock({ $0.failures.isEmpty ? nil : $0.failures.removeFirst() }) { throw failure }
    }

    func progress() async throws -> SyncProgress {
        try await begin()
        return try await settings.progress()
    }

    func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) async throws -> OutboxBatch? {
        try await begin()
        return try await settings.nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: only)
    }

    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome {
        try await begin()
        return try await settings.settle(batch, outcome)
    }

    func retryHeldBack(recordsMax: Int) async throws -> Int {
        try await begin()
        return try await settings.retryHeldBack(recordsMax: recordsMax)
    }

    func apply(_ page: ChangesPage) async throws -> MergeOutcome {
        try await begin()
        return try await settings.apply(page)
    }

    func beginRefetch(of type: RecordType) async throws {
        try await begin()
        try await settings.beginRefetch(of: type)
    }

    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws {
        try await begin()
        try await settings.adopt(zone, entry)
    }

    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws {
        try await settings.runEnded(isComplete: isComplete, at: wall, serverTime: serverTime)
    }

    func parked(limit: Int) async throws -> [ParkedEntry] { try await settings.parked(limit: limit) }
    func restoreParked(_ id: String) async throws -> ParkedRestore { try await settings.restoreParked(id) }
    func dropParked(_ id: String) async throws -> Bool { try await settings.dropParked(id) }
    func ageParked(to confirmed: WallTime) async throws -> Int {
        state.withLock { $0.dates.append(confirmed) }
        return try await settings.ageParked(to: confirmed)
    }

    func restamp(from physical: UInt64) async throws {
        try await begin()
        try await settings.restamp(from: physical)
    }

    func correct(clockOffset: Duration, at moment: HostMoment) async throws {
        try await begin()
        state.withLock { $0.offsets.append(clockOffset) }
        try await settings.correct(clockOffset: clockOffset, at: moment)
    }

    func cleanUp(now: WallTime) async throws {
        try await begin()
        state.withLock {
            $0.cleanUps += 1
            $0.dates.append(now)
        }
        try await settings.cleanUp(now: now)
    }
}

extension HostID {
    static let first = HostID(high: 1, low: 1)
    static let second = HostID(high: 2, low: 2)
}

extension SyncRecord {
    /// A record with one property, written by another host long ago.
    static func setting(_ number: Int, _ value: Int64 = 1) -> SyncRecord {
        let name = String(repeating: "0", count: max(0, 5 - "\(number)".count)) + "\(number)"
        let stamp = Stamp(milliseconds: 1000, counter: 0, host: .second)
        return SyncRecord(
            key: RecordKey(type: .recording, name: name), properties: ["v": Register(value: .int(value), stamp: stamp)])
    }
}
