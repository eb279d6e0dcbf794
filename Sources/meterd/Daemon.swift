import CloudServer
import Domain
import Gateway
import GatewayAPI
import LinuxIO
import Logging
import ProgramKit
import ServerKit
import ServiceLifecycle
import USBTransport
import UnixSignals

struct Daemon {
    let configuration: Configuration
    let isDemo: Bool
    let logger: Logger
    let manager: ServiceManager?

    func run() async throws {
        if DescriptorLimit.raise() == nil {
            logger.warning("file descriptor limit not raised: fewer connections possible")
        }
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
            // In the demo, only the first host connects. The second shows which host holds the meters.
            try await host.restore(declared: demo?.declared ?? [], wanted: index == 0)
        }
        try await run(hosts, cloud, on: loop)
        await demo?.stop()
        for host in hosts { try host.close() }
        cloud?.close()
        logger.notice("meterd stopped")
    }

    /// Runs all services. They stop in reverse order, so that hosts release their leases before the cloud ends.
    private func run(_ hosts: [Host], _ cloud: EmbeddedCloud?, on loop: IOLoop) async throws {
        let report = manager.map { makeReport(to: $0, hosts, cloud, loop) }
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let cloud {
            let (events, sink) = AsyncStream.makeStream(of: EmbeddedCloud.Event.self)
            services += try cloud.services { sink.yield($0) }
            services.append(
                .init(
                    service: OwnCloudService(
                        cloud: cloud, events: events, hosts: hosts,
                        announcer: configuration.announcer(of: "metercloud", on: loop, logger), logger: logger),
                    serviceName: "own cloud"))
        }
        for (index, host) in hosts.enumerated() {
            services += host.services {
                guard index == 0 else { return }
                announce()
                report?.ready()
            }
        }
        services.append(
            .init(
                service: MemoryService { try await ContinuousClock().sleep(for: $0) }, serviceName: "memory"))
        // Services stop in reverse order, so the end of meterd is reported first.
        if let report { services.append(.init(service: report, serviceName: "report")) }
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quietLogger)
        group.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: group).run()
    }

    /// Makes the service that reports to systemd. It checks the event loop (all meter sessions and each
    /// `MeterDirectory`), the cloud's store, and each host's store file.
    private func makeReport(
        to manager: ServiceManager, _ hosts: [Host], _ cloud: EmbeddedCloud?, _ loop: IOLoop
    ) -> ServiceReport {
        let first = hosts[0].directory
        let watches = hosts.map(\.storeWatch)
        return ServiceReport(
            to: manager,
            parts: [{ await loop.turn() }, { await cloud?.turn() }, { for watch in watches { watch.look() } }],
            status: { Self.summary(of: await first.status()) },
            sleep: { try await ContinuousClock().sleep(for: $0) }, logger: logger)
    }

    static func summary(of meters: [MeterStatus]) -> String {
        let withData = meters.count { $0.hasData }
        let wanted = meters.count { $0.wanted }
        return "\(meters.count) meter\(meters.count == 1 ? "" : "s") known, \(wanted) wanted, \(withData) with data"
    }

    private func makeHosts(loop: IOLoop) async throws -> [Host] {
        let first = try await Host(
            configuration: configuration, loop: loop,
            makeScanner: { PortScanner(host: $0.description, awaitsRules: Udev.awaitsRules) }, logger: logger)
        guard isDemo else { return [first] }
        var logger = logger
        logger[metadataKey: "host"] = "\(Demo.secondHostName)"
        let second = try await Host(
            configuration: Demo.secondHost(beside: configuration), loop: loop,
            makeScanner: { PortScanner(host: $0.description, deviceFolder: "/nowhere") }, logger: logger)
        return [first, second]
    }

    private func makeCloud() async throws -> EmbeddedCloud {
        var settings = configuration.cloud
        if isDemo { settings.listen = Configuration.Cloud.Listen(host: "127.0.0.1", port: 0) }
        let budget = DescriptorBudget(descriptors: DescriptorLimit.raise(), hasPage: configuration.web.serves)
        return try await EmbeddedCloud(
            path: "\(configuration.stateDirectory)/cloud", settings: settings,
            connections: budget.cloudBounds(perAddress: settings.connectionsPerAddress),
            backups: configuration.backup, logger: logger)
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

/// Makes this program's hosts join the cloud that it serves. A separate service, because the server admits connections
/// only after its `onRunning` callback.
private struct OwnCloudService: Service {
    let cloud: EmbeddedCloud
    let events: AsyncStream<EmbeddedCloud.Event>
    let hosts: [Host]
    let announcer: (any Announcer)?
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isKnown = false
            for await event in events {
                switch event {
                case .running(let port):
                    if isKnown { logger.notice("built-in cloud server is listening again") }
                    isKnown = false
                    announcer?.announce(cloud.offers(port: port))
                    for host in hosts { await host.member.serves(cloud, port: port, logger: logger) }
                case .unserved(let failure):
                    if !isKnown {
                        logger.warning(
                            "built-in cloud server cannot listen: retrying while meters continue",
                            metadata: ["cause": "\(failure.message)", "next": "\(failure.next)"])
                    }
                    isKnown = true
                    announcer?.announce([])
                    for host in hosts { await host.member.servesNothing(failure) }
                }
            }
        }
    }
}
