import Gateway
import GatewayAPI
import GatewayServer
import Glibc
import LinuxIO
import Logging
import MeterStore
import ServiceLifecycle
import USBTransport
import UnixSignals

/// Puts the parts together, runs them, and takes them down in order.
struct Daemon {
    let configuration: Configuration
    let isDemo: Bool
    let logger: Logger

    func run() async throws {
        try prepareDirectories()
        let store = try MeterStore.open(path: "\(configuration.stateDirectory)/meterd.sqlite")
        let loop = try IOLoop(name: "meterd-io")
        loop.start()
        defer { loop.shutdown() }
        let recorder = SampleRecorder(
            repository: store, loop: loop, limits: configuration.recorderLimits, logger: logger)
        let directory = MeterDirectory(edges: edges(loop: loop, store: store, recorder: recorder), logger: logger)
        let simulators = isDemo ? try IOLoop(name: "simulators") : nil
        simulators?.start()
        defer { simulators?.shutdown() }
        let demo = if let simulators { try await Demo.start(on: simulators) } else { Demo?.none }

        try await directory.restore()
        try await declarePorts(in: directory, demo: demo)
        try await serve(directory: directory, recorder: recorder, storePath: store.path)
        await demo?.stop()
        try store.close()
        logger.notice("meterd stopped")
    }

    private func serve(directory: MeterDirectory, recorder: SampleRecorder, storePath: String) async throws {
        let routes = MeterRoutes(directory: directory, version: .current) { recorder.status(path: storePath) }
        let server = ControlServer(router: routes.router(), socketPath: configuration.socketPath, logger: logger)
        let application = server.application { [configuration, logger, isDemo] in
            logger.notice(
                "meterd is ready",
                metadata: [
                    "version": "\(VersionBody.current.version)", "socket": "\(configuration.socketPath)",
                    "state": "\(configuration.stateDirectory)", "demo": "\(isDemo)",
                ])
        }
        // Services stop from the last to the first: the meters are left and the streams end, then the server closes,
        // then the readings that came last are written.
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: RecorderService(recorder: recorder)),
                .init(service: application),
                .init(service: DirectoryService(directory: directory)),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: quietLogger
        )
        group.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: group).run()
    }

    private func edges(loop: IOLoop, store: MeterStore, recorder: SampleRecorder) -> MeterDirectory.Edges {
        let host = hostName()
        return MeterDirectory.Edges(
            loop: loop,
            opener: SerialChannelOpener(loop: loop),
            sightings: PortWatcher(scanner: PortScanner(host: host), clock: ContinuousClock()),
            repository: store,
            recorder: recorder,
            hostName: host,
            makeDice: { SystemRandomNumberGenerator() }
        )
    }

    private func declarePorts(in directory: MeterDirectory, demo: Demo?) async throws {
        for port in configuration.ports {
            try await directory.declare(port.declared, wanted: port.connects)
        }
        for port in demo?.declared ?? [] {
            try await directory.declare(port, wanted: true)
        }
    }

    private func prepareDirectories() throws(ConfigurationError) {
        try make(configuration.stateDirectory, mode: 0o750)
        // The system's socket is guarded by its own mode and group, which only helps who can reach it.
        let socketFolder = configuration.socketPath.parentFolder
        try make(socketFolder, mode: geteuid() == 0 ? 0o755 : 0o700)
        if geteuid() != 0, !Folder.isOurs(socketFolder) {
            throw ConfigurationError(
                "\(socketFolder) belongs to somebody else or is open to others",
                next: "remove it, or choose another with --socket")
        }
        switch SocketProbe.look(at: configuration.socketPath) {
        case .free: break
        case .served:
            throw ConfigurationError(
                "another meterd serves \(configuration.socketPath)",
                next: "stop it first, or give this one its own --socket and --state-directory")
        case .noSocket:
            throw ConfigurationError(
                "\(configuration.socketPath) is a file and no socket", next: "choose another path with --socket")
        case .tooLong(let limit):
            throw ConfigurationError(
                "\(configuration.socketPath) is too long for a socket",
                next: "choose one of at most \(limit) bytes with --socket")
        }
    }

    private func make(_ folder: String, mode: UInt32) throws(ConfigurationError) {
        do throws(Errno) {
            try Folder.make(folder, mode: mode)
        } catch {
            throw ConfigurationError(
                "\(folder) cannot be made: \(error)",
                next: "make it, or choose another with --state-directory or --socket")
        }
    }

    private func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private var quietLogger: Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }
}

/// Runs the recorder until shutdown, then lets it write the rest.
private struct RecorderService: Service {
    let recorder: SampleRecorder

    func run() async throws {
        await withGracefulShutdownHandler {
            await recorder.run()
        } onGracefulShutdown: {
            recorder.finish()
        }
    }
}

/// Runs the directory until shutdown, then leaves every meter clean.
private struct DirectoryService: Service {
    let directory: MeterDirectory

    func run() async throws {
        await cancelWhenGracefulShutdown { await directory.run() }
        await directory.shutdown()
    }
}
