import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import NIOCore
import StoreTestKit
import Synchronization
import Testing

/// What a page that is open is sent, and what that takes, in virtual time.
@Suite(.timeLimit(.minutes(10)))
struct LiveFeedTests {
    /// A change of something that a page shows.
    enum Change: CaseIterable {
        case wanted, refused, reading, noise, stale, remark, reset, signal, secondLink, name, tariff, newMeter,
            meterGone,
            merged, lease, leaseOver, ownLease, jeopardy, role, search, searchOver, meterElsewhere, alert, alertGone,
            recording, adapter, cloud, network, changeToSend, parkedRestored, parkedDropped, store
    }

    /// The page is compared with everything as it is. Without a mark, it would be sent up to 15 s later.
    @Test(.serialized, arguments: Change.allCases) func change_isShownAtOnce(change: Change) async throws {
        let world = try await World()
        try await world.prepare(change)
        try await world.rest()
        let before = await world.everything()

        try await world.make(change)
        try await world.shows(otherThan: before)
        try await world.end()
    }

    @Test func nothing_isBuiltOrReadOrSent_whileNothingChanges() async throws {
        let world = try await World()
        try await world.comfort()
        let (before, reads) = (world.looks, world.bench.access.reads)
        // Another page, which sees all of it by itself.
        let second = world.live.events()
        for _ in 0..<20 { try await world.pass(.milliseconds(500)) }
        #expect(world.looks == before)

        try await world.comfort()
        #expect(world.looks == World.Looks(meters: before.meters + 1, host: before.host + 1))
        #expect(world.events == 0)
        #expect(world.bench.access.reads == reads)
        withExtendedLifetime(second) {}
        try await world.end()
    }

    @Test func changes_areSentAtOnce_andTwiceASecondToAllPages() async throws {
        let world = try await World()
        let pages = (0..<5).map { _ in world.live.events() }
        try await world.rest()
        for number in 1...3 {
            world.radios.recovered(number)
            try await eventually("it is sent") { world.events == 1 }
            world.radios.recovered(number * 10)
            let first = world.bench.loop.now
            try await eventually("the next one is sent") {
                try await world.pass(.milliseconds(10))
                return world.events == 2
            }
            #expect(world.bench.loop.now >= first + LiveFeed.interval)
            try await world.rest()
        }
        withExtendedLifetime(pages) {}
        try await world.end()
    }
}

/// What a page knows, as it puts it together.
private struct Page {
    private var shown = LiveBody(at: 0)
    private var toldAt: [String: Int64] = [:]
    var events = 0
    var comforts = 0

    mutating func take(_ event: ByteBuffer) {
        let lines = String(buffer: event).split(separator: "\n")
        guard let data = lines.first(where: { $0.hasPrefix("data: ") })?.dropFirst(6),
            // Anything else shows as missing.
            let body = try? JSONDecoder().decode(LiveBody.self, from: Data(data.utf8))
        else { return comforts += 1 }
        events += 1
        let before = lines.contains("event: all") ? LiveBody(at: 0) : shown
        let told = body.meters ?? []
        for meter in told { toldAt[meter.id] = body.at }
        shown = body
        shown.meters = told + (before.meters ?? []).filter { old in !told.contains { $0.id == old.id } }
        shown.adapters = body.adapters ?? before.adapters
        shown.store = body.store ?? before.store
        shown.cloud = body.cloud ?? before.cloud
        shown.sync = body.sync ?? before.sync
        shown.refresh_version = body.refresh_version ?? before.refresh_version
        shown.alerts_raised = body.alerts_raised ?? before.alerts_raised
    }

    /// Whether it shows what there is, with the times that it counts by itself.
    func shows(_ real: LiveBody) -> Bool {
        var body = shown.lasting
        body.at = real.at
        body.meters = body.meters?.sorted { $0.id < $1.id }
        for (place, meter) in (body.meters ?? []).enumerated() {
            guard let now = real.meters?.first(where: { $0.id == meter.id }) else { continue }
            let passed = real.at - (toldAt[meter.id] ?? 0)
            func count(_ time: WritableKeyPath<MeterStatus, Int64?>, by passed: Int64) {
                guard let told = meter[keyPath: time], let real = now[keyPath: time],
                    abs(max(0, told + passed) - real) <= 100
                else { return }
                body.meters?[place][keyPath: time] = real
            }
            count(\.age_ms, by: passed)
            count(\.retry_in_ms, by: -passed)
            count(\.searching_ms, by: -passed)
            if meter.lease != nil, now.lease != nil { count(\.lease!.remaining_ms, by: -passed) }
        }
        return body == real
    }
}

extension LiveBody {
    /// Without counts that go on all the time, and times that no page shows.
    fileprivate var lasting: LiveBody {
        var body = self
        body.store?.saved = 0
        body.store?.unsaved = 0
        guard var sync = body.sync else { return body }
        (sync.full_retry_in_ms, sync.retry_in_ms, sync.poll_in_ms) = (nil, nil, nil)
        (sync.stream_age_ms, sync.push_age_ms) = (nil, nil)
        sync.result?.age_ms = 0
        body.sync = sync
        return body
    }

    /// Without all that time alone changes.
    fileprivate var timeless: LiveBody {
        var body = lasting
        body.at = 0
        body.meters = body.meters?.map { meter in
            var meter = meter
            (meter.age_ms, meter.retry_in_ms, meter.searching_ms) = (nil, nil, nil)
            meter.lease?.remaining_ms = nil
            return meter
        }
        return body
    }
}

/// A host in a cloud, with a page that is open.
private struct World {
    struct Looks: Hashable {
        var meters = 0
        var host = 0
    }

    private final class Mirror: Sendable {
        let looks = Mutex(Looks())
        let page = Mutex(Page())
    }

    static let other = MeterID.mac(MACAddress(bits: 0x0200_0000_660C))

    let bench: ServerBench
    let live: LiveFeed
    let radios = ScriptedRadios()
    private let cloud: ScriptedCloud
    private let engine: SyncEngine
    private let leases: SimulatedLeaseLink
    private let keeper: LeaseKeeper
    private let network = ScriptedNetwork()
    private let mirror = Mirror()
    private let sources: LiveFeed.Sources
    private let running: [Task<Void, Never>]

    var looks: Looks { mirror.looks.withLock(\.self) }
    /// Number of events since the last `rest` or `comfort`.
    var events: Int { mirror.page.withLock(\.events) }
    private var id: String { "\(ServerBench.id)" }

    init() async throws {
        let bench = ServerBench(radios: radios)
        let (changes, loop) = (bench.settings.changes, bench.loop)
        cloud = ScriptedCloud(loop: loop)
        var syncing = SyncEngine.Dependencies(
            link: cloud.link(for: .temporary), repository: bench.store, loop: loop, network: network,
            rng: SplitMix64(seed: 7))
        syncing.changes = changes
        let engine = SyncEngine(
            zone: "home", host: .temporary, bringsAll: false, dependencies: syncing, logger: bench.log.logger)
        leases = SimulatedLeaseZone(loop: loop, policy: .keep).join(.temporary, name: "pi")
        let keeper = LeaseKeeper(
            identity: LeaseKeeper.Identity(host: .temporary, hostName: "pi", session: SessionID(high: 1, low: 1)),
            authority: leases, zonePolicy: .keep, changes: changes, loop: loop, rng: SplitMix64(seed: 7),
            logger: bench.log.logger)
        let zone = ZoneMeters(directory: bench.directory, settings: bench.settings, keeper: { keeper })
        let sources = LiveFeed.Sources(
            meters: { await zone.status(within: .zero) }, taken: { await zone.takeStatus(ofAll: $0) },
            host: {
                var body = LiveBody(at: 0)
                (body.adapters, body.store) = (await bench.directory.adapters(), bench.recorder.status(path: "/x"))
                body.sync = SyncStatusBody(await engine.report())
                body.cloud = CloudStatus(joined: true, host_id: "id", host_name: "pi")
                if case .open = await engine.status.stream { body.cloud?.connected = true }
                body.refresh_version = await bench.settings.refreshVersion
                body.alerts_raised = bench.alerts.raisedCount
                return body
            })
        var counted = sources
        counted.taken = { [mirror] isAll in
            mirror.looks.withLock { $0.meters += 1 }
            return await sources.taken(isAll)
        }
        counted.host = { [mirror] in
            mirror.looks.withLock { $0.host += 1 }
            return await sources.host()
        }
        live = LiveFeed(counted, changes: changes, loop: loop)
        (self.bench, self.engine, self.keeper, self.sources) = (bench, engine, keeper, sources)
        try await bench.directory.restore()
        try await bench.plugIn()
        // Between two readings the meter is at rest.
        _ = try await bench.directory.set(["poll-interval": "1m"], for: "\(ServerBench.id)")
        let page = live.events()
        running = [
            Task { [live] in await live.run() }, Task { await bench.directory.run() }, Task { await keeper.run() },
            Task { await bench.recorder.run() }, Task { await engine.run() },
            Task { [mirror] in for await event in page { mirror.page.withLock { $0.take(event.value) } } },
        ]
        try await eventually("the host is in its cloud") {
            let status = await engine.status
            return if case .open = status.stream { status.mode == .idle } else { false }
        }
        try await eventually("the radios are followed") { radios.isFollowed }
        try await rest()
    }

    // MARK: Time

    /// Lets time pass, and then what it set off.
    func pass(_ time: Duration) async throws {
        bench.loop.advance(by: time)
        let patience = Patience("what it set off")
        for _ in 0..<5 { try await patience.turn() }
    }

    /// Until nothing is left to be told.
    func rest() async throws {
        try await eventually("the page knows everything") {
            let before = looks
            try await pass(LiveFeed.interval)
            let real = await everything()
            return bench.settings.changes.isEmpty && before == looks && isShown(real)
        }
        mirror.page.withLock { $0.events = 0 }
    }

    /// Until the feed says that it is there, as it does every 15 s.
    func comfort() async throws {
        mirror.page.withLock { ($0.events, $0.comforts) = (0, 0) }
        try await eventually("it says that it is there") {
            try await pass(.milliseconds(500))
            return mirror.page.withLock { $0.comforts > 0 }
        }
    }

    func everything() async -> LiveBody {
        var body = await sources.host()
        body.meters = await sources.meters()
        body.at = bench.loop.wallNow.millisecondsSince1970
        return body.lasting
    }

    private func isShown(_ real: LiveBody) -> Bool { mirror.page.withLock { $0.shows(real) } }

    /// Until the page shows what there is, which is something else than before. What follows from a change may be sent with
    /// the next event; far less time passes than until everything is looked at.
    func shows(otherThan before: LiveBody) async throws {
        let patience = Patience("the page shows it")
        for turn in 0... {
            let real = await everything()
            if real.timeless != before.timeless, isShown(real) { return }
            try await patience.turn()
            if turn < 400, turn % 10 == 9 { bench.loop.advance(by: .milliseconds(50)) }
        }
    }

    /// Until time has changed a meter.
    private func wait(for isThere: (MeterStatus) -> Bool) async throws {
        try await eventually("time changes it") {
            try await pass(.milliseconds(250))
            return await sources.meters().contains(where: isThere)
        }
    }

    // MARK: Changes

    private var parked: ParkedService { ParkedService(repository: bench.store, settings: bench.settings) }

    private static let radio = LinkAddress.ble(
        RadioLink(address: MACAddress(bits: 0x0200_0000_250C), isRandom: false, adapter: MACAddress(bits: 1)))

    private func sighting(_ meter: MeterID = other, over link: LinkAddress = radio, name: String? = nil) -> Sighting {
        Sighting(id: meter, model: meter == Self.other ? .tc66c : .um25c, name: name, link: link, rssi: -60)
    }

    /// Another host has a meter.
    private func lease(of meter: MeterID = ServerBench.id, for time: Duration = .seconds(60)) async {
        await keeper.handle(
            .lease(
                LeaseView(
                    meter: meter, state: .held, holder: HostID(high: 9, low: 9), holderName: "pi-attic",
                    token: FencingToken(rawValue: 7), terms: .standard, transport: .usb,
                    acquiredAt: "2026-05-28T20:26:40.000Z", remaining: time, waiting: [])))
    }

    private func connect() async throws { _ = try await bench.directory.connect(id, ConnectRequest()) }

    private func add(alert rule: String) async throws {
        _ = try await bench.alerts.add(rule, of: ServerBench.id, name: nil, notify: [])
    }

    /// Sets a record aside that names another meter.
    private func park() async throws {
        let stamp = Stamp(milliseconds: 1, counter: 0, host: HostID(high: 2, low: 2))
        let key = RecordKey(type: .deviceSettings, name: Self.other.description)
        let record = SyncRecord(key: key, properties: ["name": Register(value: .string("Desk"), stamp: stamp)])
        let epoch = try await bench.store.progress().epoch ?? ""
        for records in [[record], []] {
            if records.isEmpty { try await bench.store.beginRefetch(of: .deviceSettings) }
            _ = try await bench.store.apply(
                ChangesPage(type: .deviceSettings, records: records, token: "t", moreComing: false, epoch: epoch))
        }
        bench.settings.changes.mark(.host)
    }

    /// Everything before the change.
    func prepare(_ change: LiveFeedTests.Change) async throws {
        switch change {
        case .alertGone: try await add(alert: "voltage > 1V")
        case .lease, .leaseOver, .meterElsewhere, .role, .ownLease, .jeopardy, .search, .searchOver:
            await bench.directory.use(keeper)
        case .signal, .merged: await bench.directory.handle(.appeared(sighting()))
        case .changeToSend: cloud.setReachable(false)
        case .parkedRestored, .parkedDropped: try await park()
        default: break
        }
        switch change {
        case .reading, .noise, .stale, .reset, .alert, .alertGone, .store:
            try await connect()
            try await wait { $0.reading != nil }
        case .lease, .leaseOver, .meterElsewhere, .role: leases.set(.unreachable)
        case .jeopardy:
            try await connect()
            try await wait { $0.lease?.state == .held }
            leases.set(.unreachable)
            // Jeopardy begins at 40 s. On a loaded machine, it takes seconds of this time until the page knows all else.
            try await wait { $0.lease?.remaining_ms ?? .max < 60_000 }
        case .search, .searchOver:
            bench.links.unplug(ServerBench.path)
            await bench.directory.handle(.vanished(sighting(ServerBench.id, over: .serial(path: ServerBench.path))))
            guard change == .searchOver else { break }
            try await make(.search)
            try await wait { $0.searching_ms ?? .max < 1000 }
        default: break
        }
    }

    func make(_ change: LiveFeedTests.Change) async throws {
        let directory = bench.directory
        switch change {
        case .wanted, .ownLease: try await connect()
        case .refused:
            bench.links.refuse(ServerBench.path, with: ChannelFailure(.permission, "no"))
            try await connect()
        case .reading: try await wait { $0.counters.readings == 2 }
        case .noise: bench.links.inject([1, 2, 3], at: ServerBench.path)
        case .stale:
            bench.links.setFaults(SimulatorFaults(.silence), at: ServerBench.path)
            try await wait { $0.id == id && !$0.hasData }
        case .remark:
            bench.links.setRemark("a sensor is missing", at: ServerBench.path)
            try await connect()
            try await wait { $0.error != nil }
        case .reset: try await directory.command(MeterCommand(.resetEnergy), id, by: .person)
        case .signal: await directory.handle(.heard(Self.other, Self.radio, rssi: -70))
        case .secondLink: await directory.handle(.appeared(sighting(ServerBench.id, name: "UM25C")))
        case .name: _ = try await directory.set(["name": "Bench"], for: id)
        case .tariff: _ = try await directory.set(["tariff": "0.32 EUR"], for: id)
        case .newMeter: await directory.handle(.appeared(sighting()))
        case .meterGone: _ = try await directory.forget(id, readings: false)
        case .merged: try await bench.settings.add(alias: Self.other, of: ServerBench.id)
        case .lease: await lease()
        case .leaseOver:
            await lease(for: .seconds(2))
            try await wait { $0.lease?.state == .expired }
        case .jeopardy: try await wait { $0.lease?.state == .jeopardy }
        case .role: await keeper.roleIs(.readOnly)
        case .meterElsewhere: await lease(of: Self.other)
        case .search: await directory.session(of: ServerBench.id)?.seek(ConnectOptions(), patience: .seconds(5))
        case .searchOver: try await wait { $0.id == id && $0.searching_ms == nil }
        case .alert:
            try await add(alert: "voltage > 1V")
            try await wait { _ in bench.alerts.raisedCount == 1 }
        case .alertGone: _ = try await bench.alerts.remove("1")
        case .recording:
            _ = try await bench.recordings.start(ServerBench.id, name: nil)
            _ = try await bench.recordings.stop(ServerBench.id)
        case .adapter: radios.recovered(1)
        case .cloud: cloud.setReachable(false)
        case .network: network.isLost()
        case .changeToSend: _ = try await directory.set(["notes": "on the desk"], for: id)
        case .parkedRestored: _ = try await parked.restore(try await parked.entries()[0].id)
        case .parkedDropped: try await parked.drop(try await parked.entries()[0].id)
        case .store:
            bench.access.failWrites(with: StoreError(.diskFull, "no room on the disk"))
            bench.loop.advance(by: .seconds(60))
        }
    }

    func end() async throws {
        await bench.directory.shutdown()
        // What the keeper gives back takes time on its way.
        try await bench.loop.advance(until: Task { await keeper.shutdown() })
        await engine.stop()
        bench.recorder.finish()
        for task in running[...2] { task.cancel() }
        for task in running { await task.value }
    }
}

/// A network that is lost when a test says so.
private final class ScriptedNetwork: NetworkMonitor {
    private let paths = AsyncStream.makeStream(of: NetworkPath.self)

    init() { paths.continuation.yield(NetworkPath(isSatisfied: true)) }

    func isLost() { paths.continuation.yield(.lost) }

    func run(_ report: @escaping @Sendable (NetworkPath) -> Void) async {
        for await path in paths.stream { report(path) }
    }
}

/// One adapter, which recovers when a test says so.
private final class ScriptedRadios: RadioSource {
    private let state = Mutex<(recoveries: Int, changed: (@Sendable () -> Void)?)>((0, nil))

    var isFollowed: Bool { state.withLock { $0.changed != nil } }

    func recovered(_ times: Int) {
        let changed = state.withLock { state in
            state.recoveries = times
            return state.changed
        }
        changed?()
    }

    func adapters() async -> [AdapterStatus] {
        [
            AdapterStatus(
                address: "00:00:00:00:00:01", name: "hci0", state: .idle, since: "",
                recoveries: state.withLock(\.recoveries))
        ]
    }

    func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void
    ) async {
        state.withLock { $0.changed = changed }
    }

    func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        for await _ in AsyncStream<Never>.makeStream().stream {}
    }
    func others() async -> [ScanOther] { [] }
    func support() async -> SupportRadios {
        SupportRadios(adapters: [], advertisements: [], strangers: 0, management: [])
    }
    func demandChanged() async {}
    func sought() async {}
}
