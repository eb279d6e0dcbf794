package import Cloud
import CloudAPI
package import CloudEtcd
package import CloudServer
package import CloudStore
package import Domain
import LinuxIO
package import Logging
package import ServerKit
package import ServiceLifecycle

/// A cloud with its data in a folder or in etcd. Runs in `metercloud`, or in a meterd that serves a home's cloud.
package struct HostedCloud: Sendable {
    package let folder: CloudFolder
    package let service: CloudService
    package let console: Console
    package let clock: CloudClock
    private let store: any HostedStore
    private let logger: Logger

    /// - Parameter folder: must exist.
    /// - Throws: `locked` while another process has the store open.
    package init(folder: CloudFolder, logger: Logger) throws(CloudStoreError) {
        let clock = CloudClock.system
        var rng = SystemRandomNumberGenerator()
        let engine = try SQLiteCloudEngine.open(directory: folder.path, now: clock.now(), rng: &rng)
        self.init(folder: folder, store: FileStore(sqlite: engine), clock: clock, logger: logger)
    }

    /// - Parameter folder: must exist; only this replica uses it.
    package init(folder: CloudFolder, etcd settings: EtcdSettings, logger: Logger) async throws(EtcdError) {
        let clock = CloudClock.system
        var rng = SystemRandomNumberGenerator()
        let engine = try await EtcdCloudEngine.open(settings, clock: clock, rng: &rng, logger: logger)
        self.init(folder: folder, store: EtcdStore(etcd: engine), clock: clock, logger: logger)
    }

    private init(folder: CloudFolder, store: any HostedStore, clock: CloudClock, logger: Logger) {
        self.folder = folder
        self.store = store
        self.clock = clock
        self.logger = logger
        service = CloudService(
            engine: store.engine, clock: clock, rng: SystemRandomNumberGenerator(), logger: logger)
        console = Console(service: service, makeToken: Self.makeToken) { path in
            try await store.backup(to: path, at: clock.wallNow())
        }
    }

    /// Creates whatever the store lacks: the first zone, and a token to join it.
    ///
    /// - Returns: whether the token's file exists and holds a valid token.
    package func prepareFirstZone() async throws -> Bool {
        try await folder.prepareFirstZone(of: service, makeToken: Self.makeToken)
    }

    package struct Serving: Sendable {
        package var host: String
        /// 0 for any free port.
        package var port: Int
        /// Nil for no TLS.
        package var certificate: ServerCertificate?
        package var limits: RequestGate.Limits
        package var connections: ConnectionBounds
        /// Addresses of reverse proxies, which forward requests from many hosts.
        package var proxies: [String]
        package var version: String
        package var backups = BackupSettings()
        /// Returns the address at which other replicas reach this one, given its port; nil if there is none.
        package var advertised: (@Sendable (_ port: Int) -> String)?

        package init(
            host: String, port: Int, certificate: ServerCertificate?, limits: RequestGate.Limits = .init(),
            connections: ConnectionBounds, proxies: [String] = [], version: String
        ) {
            self.host = host
            self.port = port
            self.certificate = certificate
            self.limits = limits
            self.connections = connections
            self.proxies = proxies
            self.version = version
        }
    }

    /// Returns the services in the order of their start. They stop in reverse: the streams end, the server closes, then
    /// the console, and the cloud service last.
    ///
    /// - Parameters:
    ///   - unserved: called if the server cannot listen; it retries every 10 s. If nil, the failure ends the services.
    ///   - onRunning: called with the port once hosts can connect and the console is available.
    package func services(
        _ serving: Serving, unserved: (@Sendable (any Error) async -> Void)? = nil,
        onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws -> [ServiceGroupConfiguration.ServiceConfiguration] {
        let connections = ConnectionLimit(serving.connections, proxies: serving.proxies)
        let backups = BackupKeeper(
            store, outside: folder.path, settings: serving.backups, logger: logger,
            sleep: { try await ContinuousClock().sleep(for: $0) })
        let routes = CloudRoutes(
            service: service, gate: RequestGate(limits: serving.limits, now: clock.now), clock: clock,
            version: serving.version,
            health: StoreHealth(
                look: { [store] writes in try await store.engine.probe(writes: writes) },
                warn: { [service] in
                    let failure = backups?.report.error.map { "the last backup failed: \($0)" }
                    return await service.clockWarning() ?? failure
                }, now: clock.now, logger: logger),
            makeToken: Self.makeToken,
            figures: { [store] page in
                page.add(CloudMetrics.connections, count: connections.count)
                page.add(CloudMetrics.refusedConnections, count: connections.refused)
                // Other metrics must appear even if the store is unreadable.
                if let found = try? await store.statistics() { page.add(found) }
                if let process = ProcessFigures.current { page.add(process) }
                if let backup = backups?.report { page.add(backup) }
            })
        let application = CloudApplication(
            routes: routes, host: serving.host, port: serving.port, tls: try serving.certificate?.tlsConfiguration(),
            connections: connections, logger: logger)
        let console = ConsoleApplication(console: console, socketPath: folder.consoleSocketPath, logger: logger)
        let (consoleRuns, consoleRunning) = AsyncStream.makeStream(of: Void.self)
        let (served, isServed) = AsyncStream.makeStream(of: Void.self)
        let follower = store.hasCopies ? [CloudFollower(store: store, service: service, isServed: served)] : []
        let copies = serving.advertised.map { (link: ReplicaClient(pin: serving.certificate?.pin), address: $0) }
        let server = RetryingServer(
            make: {
                try application.service { port in
                    for await _ in consoleRuns {}
                    if let copies { service.open(copies.link, at: copies.address(port)) }
                    isServed.finish()
                    await onRunning(port)
                }
            },
            failed: unserved)
        let keepers = backups.map { [$0] } ?? []
        return keepers.map { .init(service: $0, serviceName: "backups") }
            + follower.map { .init(service: $0, serviceName: "follower") } + [
                .init(service: CloudMaintenance(service: service), serviceName: "maintenance"),
                .init(service: console.service { consoleRunning.finish() }, serviceName: "console"),
                .init(service: server, serviceName: "server"),
                .init(service: CloudStreamEnder(service: service), serviceName: "streams"),
            ]
    }

    /// Returns once the store has processed a request, and so is not stuck. A failing store is not stuck: its callers
    /// get errors.
    package func turn() async { await store.turn() }

    package var summary: String {
        let listeners = service.listenerCount
        return "\(listeners) event stream\(listeners == 1 ? " is" : "s are") open"
    }

    /// Closes the store. Acknowledged writes are safe even without this call.
    package func close() {
        do {
            try store.close()
        } catch {
            logger.warning("store close failed", metadata: ["cause": "\(error)"])
        }
    }

    @Sendable private static func makeToken() -> BearerToken {
        var rng = SystemRandomNumberGenerator()
        return BearerToken(using: &rng)
    }
}
