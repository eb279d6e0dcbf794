import Cloud
import CloudAPI
import CloudEtcd
import CloudHosting
import CloudServer
import CloudStore
import Domain
import GatewayAPI
import Glibc
import LinuxIO
import Logging
import NIOCore
import ProgramKit
import ServerKit
import ServiceLifecycle
import SystemBus
import UnixSignals

struct Server {
    let folder: CloudFolder
    /// Nil if the store is a SQLite file.
    let etcd: EtcdSettings?
    let address: ServeAddress
    let names: [String]
    let usesTLS: Bool
    let rate: Int
    let connectionsPerAddress: Int
    let proxies: [String]
    /// URL at which other replicas of the cloud reach this one; nil to use its name and port.
    let advertise: String?
    let announces: Bool
    var backups = BackupSettings()
    let logger: Logger
    let manager: ServiceManager?

    func run() async throws {
        let descriptors = DescriptorLimit.raise()
        if descriptors == nil { logger.warning("file descriptor limit not raised: fewer connections possible") }
        try checkAddress()
        try prepareFolder()
        try folder.check(forEtcd: etcd != nil)
        do {
            if let directory = backups.directory { try BackupKeeper.check(directory, outside: folder.path) }
        } catch {
            throw CommandFailure(.usage, "\(error)", next: "--backup-directory takes another folder")
        }
        let cloud = try await open()
        defer { cloud.close() }
        if etcd != nil { try folder.markAsOverEtcd() }
        let hasToken = try await cloud.prepareFirstZone()
        let certificate = usesTLS ? try folder.certificate(names: certificateNames, at: cloud.clock.wallNow()) : nil
        try await serve(cloud, certificate: certificate, hasToken: hasToken, descriptors: descriptors)
        logger.notice("metercloud stopped")
    }

    private func open() async throws(CommandFailure) -> HostedCloud {
        if let etcd {
            do throws(EtcdError) {
                return try await HostedCloud(folder: folder, etcd: etcd, logger: logger)
            } catch {
                throw CommandFailure(error)
            }
        }
        do throws(CloudStoreError) {
            return try HostedCloud(folder: folder, logger: logger)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func serve(
        _ cloud: HostedCloud, certificate: ServerCertificate?, hasToken: Bool, descriptors: UInt64?
    ) async throws {
        var limits = RequestGate.Limits()
        limits.perCredential = Rate(perSecond: Double(rate), burst: 4 * Double(rate))
        limits.perAddress = Rate(perSecond: Double(rate) / 10, burst: Double(rate))
        var serving = HostedCloud.Serving(
            host: address.host, port: address.port, certificate: certificate, limits: limits,
            connections: DescriptorBudget(descriptors: descriptors, hasPage: false)
                .cloudBounds(perAddress: connectionsPerAddress),
            proxies: proxies, version: VersionBody.current.version)
        serving.backups = backups
        if etcd != nil { serving.advertised = { advertise ?? url(port: $0) } }
        let report = manager.map { manager in
            ServiceReport(
                to: manager, parts: [{ await cloud.turn() }], status: { cloud.summary },
                sleep: { try await ContinuousClock().sleep(for: $0) }, logger: logger)
        }
        // Without TLS, the cloud serves only this machine, so do not announce it.
        let offer = announces && !address.isLoopback ? certificate?.pin : nil
        let loop = offer == nil ? nil : try IOLoop(name: "announcer")
        loop?.start()
        defer { loop?.shutdown() }
        let announcer = loop.map { [logger] loop in
            AvahiAnnouncer(loop: loop, name: "metercloud on \(HostName.system)") { $0.log(to: logger) }
        }
        defer { announcer?.announce([]) }
        var services = try cloud.services(serving) { port in
            announce(port: port, pin: certificate?.pin, hasToken: hasToken)
            announcer?.announce(
                offer.map { [AnnouncedCloud.offer(port: port, pin: $0, version: VersionBody.current.version)] } ?? [])
            report?.ready()
        }
        services.append(
            .init(
                service: MemoryService { try await ContinuousClock().sleep(for: $0) }, serviceName: "memory"))
        // Services stop in reverse order, so systemd is notified before any other service stops.
        if let report { services.append(.init(service: report, serviceName: "report")) }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: quietLogger)
        group.maximumGracefulShutdownDuration = .seconds(20)
        do {
            try await ServiceGroup(configuration: group).run()
        } catch is ServiceGroupError {
            throw CommandFailure(.error, "a service of metercloud stopped unexpectedly", next: "see the log above")
        } catch {
            let why = words(for: error) { ($0 as? IOError).map { String(cString: strerror($0.errnoCode)) } }
            throw CommandFailure(
                .error, "\(address.description) cannot be served: \(why)",
                next: "is another program on that port? metercloud serve --listen ADDRESS:PORT takes another")
        }
    }

    // MARK: Output

    private func announce(port: Int, pin: CertificatePin?, hasToken: Bool) {
        logger.notice(
            "metercloud is ready",
            metadata: [
                "version": "\(VersionBody.current.version)", "address": "\(IPAddress.authority(address.host, port))",
                "data": "\(folder.path)",
            ])
        for line in joinLines(port: port, pin: pin, hasToken: hasToken) { Terminal.line(line) }
    }

    func joinLines(port: Int, pin: CertificatePin?, hasToken: Bool) -> [String] {
        let join = "meterctl cloud join \(url(port: port)) --token-file "
        let pinned = pin.map { " --pin \($0)" } ?? ""
        guard hasToken else {
            return [
                "metercloud token create --enrolment --output join.token makes a token, with which a host joins:",
                "  \(join)join.token\(pinned)",
            ]
        }
        var lines = ["A host joins with:", "  \(join)\(folder.enrolmentTokenPath.shellQuoted)\(pinned)"]
        if !address.isLoopback { lines.append("Another machine needs a copy of that token file first.") }
        return lines
    }

    private func url(port: Int) -> String {
        "\(usesTLS ? "https" : "http")://\(IPAddress.authority(publicName, port))"
    }

    private var publicName: String {
        names.first ?? (address.isAny ? HostName.system : address.host)
    }

    private var certificateNames: Set<String> {
        var all = Set(names + [HostName.system, "localhost", "127.0.0.1", "::1"] + IPAddress.ofThisMachine())
        if !HostName.system.contains(".") { all.insert("\(HostName.system).local") }
        if !address.isAny { all.insert(address.host) }
        return all
    }

    // MARK: Checks before the start

    private func checkAddress() throws {
        switch ListenProbe.look(at: address) {
        case nil: break
        case .unknownHost(let reason):
            throw CommandFailure(
                .error, "\"\(address.host)\" is not an address of this machine: \(reason)",
                next: "--listen takes an address such as 0.0.0.0:8643")
        case .refused(let error) where error.code == EACCES:
            throw CommandFailure(
                .noPermission, "\(address.description) cannot be served: \(error)",
                next: "ports below 1024 are for root; --listen \(ServeAddress.everywhere.description) is not")
        case .refused(let error):
            throw CommandFailure(
                .error, "\(address.description) cannot be served: \(error)",
                next: "is another program on that port? metercloud serve --listen ADDRESS:PORT takes another")
        }
    }

    private func prepareFolder() throws {
        do throws(Errno) {
            try Folder.make(folder.path, mode: 0o700)
        } catch {
            throw CommandFailure(
                error.code == EACCES || error.code == EPERM ? .noPermission : .error,
                "\(folder.path) cannot be made: \(error)", next: "make it, or choose another with --data")
        }
        guard Folder.isOurs(folder.path) else {
            throw CommandFailure(
                .noPermission, "\(folder.path) belongs to somebody else or is open to others",
                next: "chmod 700 it, or choose another with --data")
        }
        switch SocketProbe.look(at: folder.consoleSocketPath) {
        case .free: break
        case .served:
            throw CommandFailure(
                .error, "another metercloud serves \(folder.path)",
                next: "stop it first, or give this one its own --data and --listen")
        case .noSocket:
            throw CommandFailure(
                .error, "\(folder.consoleSocketPath) is a file and no socket", next: "remove it")
        case .tooLong(let limit):
            throw CommandFailure(
                .error, "\(folder.consoleSocketPath) is too long for a socket",
                next: "choose a --data whose path is at most \(limit - 13) bytes")
        }
    }

    private var quietLogger: Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }
}
