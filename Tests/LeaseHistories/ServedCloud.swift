import Cloud
import CloudClient
import CloudServer
import CloudStore
import LeaseCore
import LeaseWitness
import LinuxIO
import Logging
import MeterModel
import MeterTestKit
import ServerKit
import ServiceLifecycle
import Synchronization

/// The real server over the real store in this process, on a clock that runs faster: a lease of 30 s is over in 2.
struct ServedCloud: Sendable {
    private static let speed = 20
    private static let quiet = Logger(label: "lease-histories") { _ in SwiftLogNoOpLogHandler() }

    private let clock: CloudClock
    private let service: CloudService
    private let store: SQLiteCloudEngine
    private let folder: TemporaryFolder

    private init(fault: PlantedFault?) throws {
        let start = LinuxClock.now
        let now: @Sendable () -> MonotonicTime = {
            .origin + (LinuxClock.now - start) * Self.speed + .seconds(1000)
        }
        clock = CloudClock(
            now: now, wallNow: { LinuxClock.wallNow },
            sleep: { try await Task.sleep(for: max(.zero, $0 - now()) / Self.speed) })
        folder = try TemporaryFolder()
        var rng = SystemRandomNumberGenerator()
        store = try SQLiteCloudEngine.open(directory: folder.path, now: now(), rng: &rng)
        service = CloudService(
            engine: FaultyEngine(store, fault: fault), clock: clock, rng: SystemRandomNumberGenerator(),
            logger: Self.quiet)
    }

    /// Lets hosts of two zones use a new cloud until `isEnough`, which is asked each quarter of a second.
    ///
    /// - Returns: what they saw, by zone.
    static func run(
        fault: PlantedFault?, seed: UInt64, until isEnough: @Sendable ([LeaseHistory]) -> Bool
    ) async throws -> [LeaseHistory] {
        let cloud = try ServedCloud(fault: fault)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = try cloud.application().service {
            found.yield($0)
            found.finish()
        }
        let group = ServiceGroup(
            services: [
                CloudMaintenance(service: cloud.service), application, CloudStreamEnder(service: cloud.service),
            ],
            logger: quiet)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var url = ""
            for await port in ports { url = "http://127.0.0.1:\(port)" }
            let crowd = try await cloud.crowd(seed: seed, url: url)
            try await crowd.run {
                while !isEnough(crowd.histories) { try await Task.sleep(for: .milliseconds(250)) }
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try cloud.store.close()
            return crowd.histories
        }
    }

    private func application() -> CloudApplication {
        var limits = RequestGate.Limits()
        limits.perCredential = Rate(perSecond: 100_000, burst: 100_000)
        limits.perAddress = limits.perCredential
        let routes = CloudRoutes(
            service: service, gate: RequestGate(limits: limits, now: clock.now), clock: clock, version: "1",
            makeToken: Self.makeToken)
        return CloudApplication(routes: routes, host: "127.0.0.1", port: 0, tls: nil, logger: Self.quiet)
    }

    private func crowd(seed: UInt64, url: String) async throws -> LeaseCrowd {
        var zones: [LeaseCrowd.Zone] = []
        for (name, terms) in WitnessZones.all {
            let token = Self.makeToken()
            _ = try await service.createZone(name, terms: terms)
            _ = try await service.addCredential(.enrolment, label: "all", hash: token.hash, in: name)
            zones.append(.init(name: name, terms: terms, enrolment: Secret(token.text)))
        }
        return try await LeaseCrowd(zones, seed: seed, pin: nil, now: clock.now) { [url] }
    }

    @Sendable private static func makeToken() -> BearerToken {
        var rng = SystemRandomNumberGenerator()
        return BearerToken(using: &rng)
    }
}
