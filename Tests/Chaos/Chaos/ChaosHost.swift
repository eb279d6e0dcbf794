import CloudAPI
import CloudClient
import Domain
import Foundation
import Gateway
import LinuxIO
import Logging
import MeterStore
import SimulatedCloud

/// A host as `meterd` puts it together: its store, its membership, its lease keeper and its sync engine, and a driver
/// where the meters would be. What it has is in its folder, and there again after SIGKILL.
final class ChaosHost: Sendable {
    private static let quiet = Logger(label: "chaos") { _ in SwiftLogNoOpLogHandler() }

    let name: String
    let zone: String
    private let store: MeterStore
    private let loop: IOLoop
    private let client: CloudClient
    private let keeper: LeaseKeeper
    private let engine: SyncEngine
    private let driver: MeterDriver
    private let uplink: RelayUplink
    private let watcher: RelayWatcher
    private let look: MeterWatcher
    private let session: SessionID
    private let journal: Journal
    private let rng: SimulationRNG
    /// A guest in a zone may leave it before the zone was told of what it wrote, which then is not lost: it goes with it.
    private let ownProduct: String

    struct Place {
        var folder: String
        var urls: [String]
        /// The zone to be in, and the token that lets a host join it.
        var zone: String
        var enrolment: String
        /// Whether its hosts are in this zone for a while only.
        var isVisit: Bool
        var generations: Generations
        /// Whether a bug is planted in its hosts (`MeterDriver`).
        var usesOn: Bool
    }

    /// Joins where it is not a member yet, and joins the other zone where it is one of that.
    init(_ name: String, at place: Place, journal: Journal, seed: UInt64) async throws {
        let folder = "\(place.folder)/\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        store = try MeterStore.open(path: "\(folder)/host.sqlite")
        let membership = try await Self.membership(name, folder, store.identity.host, place)
        client = try CloudClient(membership, patience: .seconds(8))
        let cloud = RecordingCloud(client: client, journal: journal, host: store.identity.host)
        loop = try IOLoop(name: name)
        var random = SystemRandomNumberGenerator()
        session = SessionID(using: &random)
        keeper = LeaseKeeper(
            identity: LeaseKeeper.Identity(
                host: store.identity.host, hostName: name, session: session,
                previousSession: try await store.leaseSession()),
            authority: cloud, zonePolicy: membership.zone == "lab" ? .strict : .keep, loop: loop, rng: random,
            logger: Self.quiet)
        var timing = SyncTiming()
        timing.backoff.ceiling = .seconds(4)
        timing.pollInterval = .seconds(10)
        driver = MeterDriver(
            keeper, loop: loop, journal: journal, zone: membership.zone, generations: place.generations,
            rng: SimulationRNG(seed: seed), usesOn: place.usesOn)
        uplink = RelayUplink(link: client, keeper: keeper, loop: loop, logger: Self.quiet) { [driver] meter in
            await driver.source(of: meter)
        }
        watcher = RelayWatcher(link: client, host: store.identity.host, loop: loop, logger: Self.quiet)
        look = MeterWatcher(
            watcher: watcher, journal: journal, zone: membership.zone, generations: place.generations, name: name)
        engine = SyncEngine(
            zone: membership.zone, host: store.identity.host, timing: timing, bringsAll: false,
            dependencies: SyncEngine.Dependencies(
                link: cloud, repository: store, loop: loop, rng: random,
                heard: { [keeper, uplink] event in
                    await keeper.handle(event)
                    await uplink.handle(event)
                }),
            logger: Self.quiet)
        (self.name, self.journal, zone) = (name, journal, membership.zone)
        rng = SimulationRNG(seed: seed &+ 1)
        ownProduct = place.isVisit ? Judge.guestProduct : Judge.ownProduct
    }

    private static func membership(
        _ name: String, _ folder: String, _ host: HostID, _ place: Place
    ) async throws -> CloudMembership {
        let path = "\(folder)/membership.\(place.zone)"
        if let token = try? String(contentsOfFile: path, encoding: .utf8) {
            return CloudMembership(urls: place.urls, zone: place.zone, token: Secret(token), pin: nil)
        }
        let joined = try await join(name, host, place)
        try joined.token.text.write(toFile: path, atomically: true, encoding: .utf8)
        return joined
    }

    /// Asks again as long as the cloud cannot be reached.
    private static func join(_ name: String, _ host: HostID, _ place: Place) async throws -> CloudMembership {
        var urls = place.urls
        while true {
            do throws(SyncFailure) {
                var joined = try await CloudClient.join(
                    urls: urls, token: Secret(place.enrolment), pin: nil,
                    as: JoinRequest(hostID: host.description, hostName: name, machine: "machine of \(name)"))
                joined.urls = place.urls
                return joined
            } catch {
                switch error.kind {
                case .network, .serviceUnavailable, .rateLimited: urls.append(urls.removeFirst())
                default: throw error
                }
            }
            try await Task.sleep(for: .milliseconds(300))
        }
    }

    /// Runs until `drain` ends, then until `finish` does.
    ///
    /// - Parameters:
    ///   - drain: returns when nothing new is to be begun.
    ///   - drained: called when the cloud has all that was written here.
    ///   - finish: returns when that is so everywhere.
    func run(
        until drain: @escaping @Sendable () async -> Void, drained: @Sendable () -> Void,
        finish: @escaping @Sendable () async -> Void
    ) async throws {
        loop.start()
        let grants = keeper.grants.subscribe(buffer: 1)
        async let keeping: Void = keeper.run()
        async let running: Void = engine.run()
        async let driving: Void = driver.run()
        let looking = Task { [look, rng] in await look.run(rng) }
        async let remembering: Void = {
            for await _ in grants { return try await store.keepLeaseSession(session) }
        }()
        let (stop, stopping) = AsyncStream.makeStream(of: Void.self)
        async let writing: Void = write(until: stop)
        await drain()
        stopping.finish()
        try await writing
        await driver.end()
        await driving
        looking.cancel()
        await looking.value
        await uplink.shutdown()
        await watcher.shutdown()
        await synchronise()
        drained()
        await finish()
        await synchronise()
        try await tellAll()
        await keeper.shutdown()
        keeper.grants.finish()
        await engine.stop()
        _ = try await (keeping, running, remembering)
        await client.shutdown()
        loop.shutdown()
        try store.close()
    }

    /// Until everything was told and read, and that twice: what came during the first run is there after the second.
    private func synchronise() async {
        var complete = 0
        while complete < 2 {
            guard let result = await engine.synchronise() else { return }
            let pending = try? await store.progress().pending
            complete = result.end == .complete && pending == 0 ? complete + 1 : 0
            // Whoever cannot reach the cloud asks again soon, as a person would.
            if complete == 0 { try? await Task.sleep(for: .milliseconds(300)) }
        }
    }

    // MARK: Settings

    /// Its own records, each property written once, and one record that all hosts of the zone write.
    private func write(until stop: AsyncStream<Void>) async throws {
        let isOver = Flag()
        async let waiting: Void = {
            for await _ in stop {}; isOver.set()
        }()
        var rng = rng
        // No run before this one wrote the same.
        var number = Journal.now
        while !isOver.isSet {
            number += 1
            let own = RecordKey(type: .deviceSettings, name: "usb:0485:\(ownProduct):\(zone)-\(name)-\(number / 8)")
            let shared = RecordKey(
                type: .deviceSettings, name: "usb:0485:0002:\(zone)-shared-\(rng.number(below: 4))")
            _ = try await store.write(
                [
                    SettingChange(key: own, property: "v\(number % 8)", value: .int(number)),
                    SettingChange(key: shared, property: "last", value: .int(number)),
                ], at: HostMoment(wall: LinuxClock.wallNow, sinceBoot: LinuxClock.now))
            journal.wrote(own.name, "v\(number % 8)", number, in: zone)
            engine.trigger(.localChange)
            try await Task.sleep(for: rng.milliseconds(200...900))
        }
        await waiting
    }

    private func tellAll() async throws {
        let records = try await store.records(of: .deviceSettings)
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for record in records.sorted(by: { $0.key.name < $1.key.name }) {
            var line = record.key.name
            for (property, register) in record.properties.sorted(by: { $0.key < $1.key }) {
                line += " \(property)=\(register.value)@\(register.stamp)"
            }
            for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        journal.ended(name, in: zone, records: records.count, digest: digest)
    }
}
