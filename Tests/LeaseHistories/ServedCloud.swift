import Cloud
import CloudAPI
import CloudClient
import CloudServer
import CloudStore
import Domain
import LeaseWitness
import LinuxIO
import Logging
import MeterTestKit
import ServerKit
import ServiceLifecycle
import Synchronization

/// Two copies of the real server over one real store in this process, on a clock that may run faster.
struct ServedCloud: Sendable {
    /// A lease of 30 s is over in 2.
    private static let quick = 20
    private static let quiet = Logger(label: "lease-histories") { _ in SwiftLogNoOpLogHandler() }

    private let clock: CloudClock
    private let services: [CloudService]
    private let store: SQLiteCloudEngine
    private let folder: TemporaryFolder

    private init(fault: PlantedFault?, speed: Int) throws {
        let start = LinuxClock.now
        let now: @Sendable () -> MonotonicTime = {
            .origin + (LinuxClock.now - start) * speed + .seconds(1000)
        }
        clock = CloudClock(
            now: now, wallNow: { LinuxClock.wallNow },
            sleep: { try await Task.sleep(for: max(.zero, $0 - now()) / speed) })
        folder = try TemporaryFolder()
        var rng = SystemRandomNumberGenerator()
        let store = try SQLiteCloudEngine.open(directory: folder.path, now: now(), rng: &rng)
        services = [1, 2].map { [clock] _ in
            CloudService(
                engine: FaultyEngine(store, fault: fault), clock: clock, rng: SystemRandomNumberGenerator(),
                logger: Self.quiet)
        }
        self.store = store
    }

    /// Lets hosts of two zones use a new cloud until `isEnough`, which is asked each quarter of a second.
    ///
    /// - Returns: what they saw, by zone.
    static func run(
        fault: PlantedFault?, seed: UInt64, until isEnough: @Sendable ([LeaseHistory]) -> Bool
    ) async throws -> [LeaseHistory] {
        try await serve(fault, speed: quick) { cloud, urls in
            let crowd = try await cloud.crowd(seed: seed, urls: urls)
            try await crowd.run {
                while !isEnough(crowd.histories) { try await Task.sleep(for: .milliseconds(250)) }
            }
            return crowd.histories
        }
    }

    /// Lets hosts of one zone flood a new cloud, whose clock is the machine's.
    static func flood(fault: PlantedFault?) async throws -> CommandFlood {
        try await serve(fault, speed: 1) { cloud, urls in
            var zones: [Secret] = []
            for name in CommandFlood.zones {
                _ = try await cloud.services[0].createZone(name, terms: .standard)
                zones.append(try await cloud.enrolment(in: name, .full))
            }
            // 80 a second, of the 100 requests that a host may send.
            return try await CommandFlood(
                url: urls[0], enrolments: zones, pause: .milliseconds(12), engine: cloud.store)
        }
    }

    private static func serve<Value: Sendable>(
        _ fault: PlantedFault?, speed: Int, _ body: (ServedCloud, [String]) async throws -> Value
    ) async throws -> Value {
        let cloud = try ServedCloud(fault: fault, speed: speed)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let parts = try cloud.services.map { service -> [any Service] in
            [
                CloudMaintenance(service: service), try cloud.application(service).service { found.yield($0) },
                CloudStreamEnder(service: service),
            ]
        }
        let group = ServiceGroup(services: parts.flatMap(\.self), logger: quiet)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var urls: [String] = []
            for await port in ports {
                urls.append("http://127.0.0.1:\(port)")
                if urls.count == cloud.services.count { break }
            }
            let value = try await body(cloud, urls)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try cloud.store.close()
            return value
        }
    }

    private func application(_ service: CloudService) -> CloudApplication {
        var limits = RequestGate.Limits()
        limits.perCredential = Rate(perSecond: 100_000, burst: 100_000)
        limits.perAddress = limits.perCredential
        let routes = CloudRoutes(
            service: service, gate: RequestGate(limits: limits, now: clock.now), clock: clock, version: "1",
            makeToken: Self.makeToken)
        return CloudApplication(routes: routes, host: "127.0.0.1", port: 0, tls: nil, logger: Self.quiet)
    }

    private func crowd(seed: UInt64, urls: [String]) async throws -> LeaseCrowd {
        var zones: [LeaseCrowd.Zone] = []
        for (name, terms) in WitnessZones.all {
            _ = try await services[0].createZone(name, terms: terms)
            var quota = ZoneQuota.standard
            quota.leases = WitnessZones.leaseLimit
            try await services[0].setQuota(quota, of: name)
            let enrolments = [try await enrolment(in: name, .full), try await enrolment(in: name, .readOnly)]
            zones.append(.init(name: name, terms: terms, enrolments: enrolments))
        }
        return try await LeaseCrowd(zones, seed: seed, pin: nil, now: clock.now) { urls }
    }

    private func enrolment(in zone: String, _ role: HostRole) async throws -> Secret {
        let token = Self.makeToken()
        _ = try await services[0].addCredential(.enrolment, role, label: "all", hash: token.hash, in: zone)
        return Secret(token.text)
    }

    @Sendable private static func makeToken() -> BearerToken {
        var rng = SystemRandomNumberGenerator()
        return BearerToken(using: &rng)
    }
}
