package import Cloud
import CloudAPI
package import CloudServer
package import CloudStore
import LinuxIO
package import Logging
import MeterModel
import MetricsCore
import ServerKit
package import ServiceLifecycle

/// A cloud over the store of one folder: the store, the service, its console and what serves it. `metercloud` is one,
/// and so is a meterd that serves the cloud of a home.
package struct HostedCloud: Sendable {
    package let folder: CloudFolder
    package let service: CloudService
    package let console: Console
    package let clock: CloudClock
    private let engine: SQLiteCloudEngine
    private let logger: Logger

    /// Opens the store. The folder is there.
    ///
    /// - Throws: `locked` while another process has it.
    package init(folder: CloudFolder, logger: Logger) throws(CloudStoreError) {
        self.folder = folder
        self.logger = logger
        clock = .system
        var dice = SystemRandomNumberGenerator()
        engine = try SQLiteCloudEngine.open(directory: folder.path, now: clock.now(), dice: &dice)
        service = CloudService(engine: engine, clock: clock, dice: SystemRandomNumberGenerator(), logger: logger)
        console = Console(service: service, makeToken: Self.makeToken) { [engine, clock] path in
            do throws(CloudStoreError) {
                try await engine.backup(to: path, at: clock.wallNow())
            } catch {
                throw CloudFailure(.serviceUnavailable, error.message)
            }
        }
    }

    /// Makes the first zone and a token to join it with, where the store has none yet.
    ///
    /// - Returns: whether the token's file is there with one that is good.
    package func prepareFirstZone() async throws -> Bool {
        try await folder.prepareFirstZone(of: service, makeToken: Self.makeToken)
    }

    /// How it is served.
    package struct Serving: Sendable {
        package var host: String
        /// 0: any that is free.
        package var port: Int
        /// nil: without TLS.
        package var certificate: ServerCertificate?
        package var limits: RequestGate.Limits
        /// The program's.
        package var version: String

        package init(
            host: String, port: Int, certificate: ServerCertificate?, limits: RequestGate.Limits = .init(),
            version: String
        ) {
            self.host = host
            self.port = port
            self.certificate = certificate
            self.limits = limits
            self.version = version
        }
    }

    /// What runs, in the order in which it starts. Stopping goes from the last to the first: the streams end, the server
    /// closes, then the console, and the service itself last.
    ///
    /// - Parameter onRunning: called with the port once hosts can connect and the console can be asked.
    package func services(
        _ serving: Serving, onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws -> [ServiceGroupConfiguration.ServiceConfiguration] {
        let routes = CloudRoutes(
            service: service, gate: RequestGate(limits: serving.limits, now: clock.now), clock: clock,
            version: serving.version, makeToken: Self.makeToken,
            figures: { [engine] page in
                try await engine.tell(&page)
                if let process = ProcessFigures.current { page.add(process) }
            })
        let application = CloudApplication(
            routes: routes, host: serving.host, port: serving.port, tls: try serving.certificate?.tlsConfiguration(),
            logger: logger)
        let console = ConsoleApplication(console: console, socketPath: folder.consoleSocketPath, logger: logger)
        let (consoleRuns, consoleRunning) = AsyncStream.makeStream(of: Void.self)
        return [
            .init(service: CloudRounds(service: service)),
            .init(service: console.service { consoleRunning.finish() }),
            .init(
                service: try application.service { port in
                    for await _ in consoleRuns {}
                    await onRunning(port)
                }),
            .init(service: CloudStreamEnder(service: service)),
        ]
    }

    /// Returns once the store has done something. One that fails is not stuck: who asks it is told.
    package func turn() async { try? await engine.turn() }

    /// One line about it for people.
    package var summary: String {
        let listeners = service.listenerCount
        return "\(listeners) event stream\(listeners == 1 ? " is" : "s are") open"
    }

    /// Writes back what is in the store's log. What was acknowledged is safe without it.
    package func close() {
        do throws(CloudStoreError) {
            try engine.close()
        } catch {
            logger.warning("store not closed", metadata: ["cause": "\(error)"])
        }
    }

    @Sendable private static func makeToken() -> BearerToken {
        var dice = SystemRandomNumberGenerator()
        return BearerToken(using: &dice)
    }
}
