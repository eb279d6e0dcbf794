import Cloud
import CloudAPI
import CloudClient
import CloudServer
import Domain
import Hummingbird
import Logging
import MeterTestKit
import NIOCore
import ServerKit
import ServiceLifecycle
import StoreTestKit

/// A whole cloud over a store of its own, on a free port of this machine, with a certificate of its own.
struct LocalCloud: Sendable {
    static let now = WallTime(millisecondsSince1970: 1_780_000_000_000)
    static let zone = "home"

    let engine: TemporaryCloudEngine
    let service: CloudService
    let certificate: ServerCertificate
    /// Lets hosts join.
    let enrolment: Secret
    fileprivate(set) var port = 0

    fileprivate init() async throws {
        let clock = CloudClock(
            now: { .origin }, wallNow: { Self.now }, sleep: { _ in throw CancellationError() })
        engine = try TemporaryCloudEngine()
        service = CloudService(
            engine: engine, clock: clock, rng: SystemRandomNumberGenerator(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        certificate = try ServerCertificate.make(.cloud, names: ["localhost"], at: Self.now)
        var rng = SystemRandomNumberGenerator()
        let token = BearerToken(using: &rng)
        enrolment = Secret(token.text)
        _ = try await service.createZone(Self.zone, terms: .standard)
        _ = try await service.addCredential(.enrolment, label: "test", hash: token.hash, in: Self.zone)
    }

    var url: String { "https://127.0.0.1:\(port)" }

    func request(_ name: String, host: HostID = HostID(high: 1, low: 1), machine: String? = nil) -> JoinRequest {
        JoinRequest(hostID: host.description, hostName: name, machine: machine ?? "machine of \(name)")
    }

    /// Joins as a host, by the enrolment token where no other is told.
    func join(_ request: JoinRequest, token: Secret? = nil) async throws -> CloudMembership {
        try await CloudClient.join(
            urls: [url], token: token ?? enrolment, pin: certificate.pin, as: request, patience: .loaded)
    }

    /// A client of a host that joined just now.
    func client(_ name: String, host: HostID) async throws -> CloudClient {
        try CloudClient(try await join(request(name, host: host)), patience: .loaded)
    }

    fileprivate func application(_ onRunning: @escaping @Sendable (Int) -> Void) throws -> any ApplicationProtocol {
        let routes = CloudRoutes(
            service: service, gate: RequestGate { .origin },
            clock: CloudClock(now: { .origin }, wallNow: { Self.now }, sleep: { _ in }), version: "1.2.3",
            makeToken: {
                var rng = SystemRandomNumberGenerator()
                return BearerToken(using: &rng)
            })
        return try CloudApplication(
            routes: routes, host: "127.0.0.1", port: 0, tls: try certificate.tlsConfiguration(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).service { onRunning($0) }
    }
}

extension Duration {
    /// How long an answer may take where late is not what is tested: a hundred tests at once on a slow machine take their time.
    static let loaded = Duration.seconds(300)
}

/// Runs a cloud for as long as `body` does.
func withCloud(_ body: @Sendable (LocalCloud) async throws -> Void) async throws {
    var cloud = try await LocalCloud()
    let (ports, found) = AsyncStream.makeStream(of: Int.self)
    let application = try cloud.application {
        found.yield($0)
        found.finish()
    }
    let group = ServiceGroup(
        services: [application], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        for await port in ports { cloud.port = port }
        try await body(cloud)
        await cloud.service.shutdown()
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}

/// Runs `body` and closes the client's connections after it, whatever it does.
func closing(_ client: CloudClient, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch {
        await client.shutdown()
        throw error
    }
    await client.shutdown()
}
