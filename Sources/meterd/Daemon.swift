import Gateway
import GatewayAPI
import LinuxIO
import Logging
import ServiceLifecycle
import USBTransport
import UnixSignals

/// Puts the parts together, runs them, and takes them down in order.
struct Daemon {
    let configuration: Configuration
    let isDemo: Bool
    let logger: Logger

    func run() async throws {
        let loop = try IOLoop(name: "meterd-io")
        loop.start()
        defer { loop.shutdown() }
        let host = try Host(
            configuration: configuration, loop: loop, scanner: PortScanner(host: Host.systemName), logger: logger)
        let simulators = isDemo ? try IOLoop(name: "simulators") : nil
        simulators?.start()
        defer { simulators?.shutdown() }
        let demo = if let simulators { try await Demo.start(on: simulators) } else { Demo?.none }

        try await host.restore(declared: demo?.declared ?? [], wanted: true)
        var group = ServiceGroupConfiguration(
            services: host.services { announce() }, gracefulShutdownSignals: [.sigterm, .sigint], logger: quietLogger)
        group.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: group).run()
        await demo?.stop()
        try host.close()
        logger.notice("meterd stopped")
    }

    private func announce() {
        logger.notice(
            "meterd is ready",
            metadata: [
                "version": "\(VersionBody.current.version)", "socket": "\(configuration.socketPath)",
                "state": "\(configuration.stateDirectory)", "demo": "\(isDemo)",
            ])
    }

    private var quietLogger: Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }
}
