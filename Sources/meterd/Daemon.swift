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
        let simulators = isDemo ? try IOLoop(name: "simulators") : nil
        simulators?.start()
        defer { simulators?.shutdown() }
        let demo = if let simulators { try await Demo.start(on: simulators) } else { Demo?.none }

        let hosts = try await makeHosts(loop: loop)
        let cloud = configuration.cloud.serves || isDemo ? try await makeCloud() : nil
        for (index, host) in hosts.enumerated() {
            // Only the first of the demo's hosts connects: the other one sees who has the meters.
            try await host.restore(declared: demo?.declared ?? [], wanted: index == 0)
        }
        try await run(hosts, cloud)
        await demo?.stop()
        for host in hosts { try host.close() }
        cloud?.close()
        logger.notice("meterd stopped")
    }

    /// Services stop from the last to the first: the hosts, then the cloud that they give their leases back to.
    private func run(_ hosts: [Host], _ cloud: EmbeddedCloud?) async throws {
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let cloud {
            let (ports, sink) = AsyncStream.makeStream(of: Int.self)
            services += try cloud.services { sink.yield($0) }
            services.append(.init(service: OwnCloudService(cloud: cloud, ports: ports, hosts: hosts, logger: logger)))
        }
        for (index, host) in hosts.enumerated() {
            services += host.services { if index == 0 { announce() } }
        }
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quietLogger)
        group.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: group).run()
    }

    private func makeHosts(loop: IOLoop) async throws -> [Host] {
        let scanner = PortScanner(host: HostName.system, awaitsRules: Udev.awaitsRules)
        let first = try await Host(configuration: configuration, loop: loop, scanner: scanner, logger: logger)
        guard isDemo else { return [first] }
        var logger = logger
        logger[metadataKey: "host"] = "\(Demo.secondHostName)"
        let second = try await Host(
            configuration: Demo.secondHost(beside: configuration), loop: loop,
            scanner: PortScanner(host: HostName.system, deviceFolder: "/nowhere"), logger: logger)
        return [first, second]
    }

    private func makeCloud() async throws -> EmbeddedCloud {
        var listen = configuration.cloud.listen
        if isDemo { listen = Configuration.Cloud.Listen(host: "127.0.0.1", port: 0) }
        return try await EmbeddedCloud(path: "\(configuration.stateDirectory)/cloud", listen: listen, logger: logger)
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

/// Lets the hosts of this program join the cloud that it serves, once that can be reached. A service of its own, because
/// the server takes nobody before it has told everybody that it runs.
private struct OwnCloudService: Service {
    let cloud: EmbeddedCloud
    let ports: AsyncStream<Int>
    let hosts: [Host]
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await port in ports {
                for host in hosts { await host.member.serves(cloud, port: port, logger: logger) }
            }
        }
    }
}
