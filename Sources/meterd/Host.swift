import BlueZTransport
import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Glibc
import HomeAutomation
import LinuxIO
import Logging
import MeterStore
import Notifications
import ProxyTransport
import ServerKit
import ServiceLifecycle
import Synchronization
import SystemBus
import USBTransport

/// One gateway host. `meterd` runs one host, the demo two.
struct Host {
    let configuration: Configuration
    let store: MeterStore
    let recorder: SampleRecorder
    let storeWatch: StoreWatch
    /// Nil if this host writes no backups.
    private let backups: BackupKeeper?
    let recordings: RecordingService
    private let loads: LoadService
    let marks: MarkService
    let counts: EnergyCounts
    let imports: ImportService
    let alerts: AlertService
    let log: LogKeeper
    let settings: SettingsService
    let rebuild: RebuildService
    let directory: MeterDirectory
    let member: CloudMember
    let zone: ZoneMeters
    private let offers: ProxyOffers
    /// Nil if no time series database is configured.
    let influx: InfluxService?
    /// Nil if no MQTT broker is configured.
    let bridge: HomeBridge?
    private let name: String
    /// Identity of this host and of its process, as shown to other hosts.
    private let identity: LeaseKeeper.Identity
    private let loop: IOLoop
    private let logger: Logger

    /// Opens the store and assembles the dependencies. Starts no service yet.
    init(
        configuration: Configuration, loop: IOLoop, makeScanner: (HostID) -> PortScanner, logger: Logger
    ) async throws {
        self.configuration = configuration
        self.logger = logger
        self.loop = loop
        name = configuration.hostName ?? HostName.system
        try Self.prepareDirectories(configuration)
        let machine = Machine.present
        var options = MeterStore.Options(machine: machine, calendar: { LinuxClock.wallNow })
        options.catalogue = configuration.catalogue
        store = try MeterStore.open(path: configuration.storePath, options: options)
        let confirmation = CalendarConfirmation()
        let calendar = RetentionCalendar(
            repository: store,
            clocks: RetentionCalendar.Clocks(
                now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow }, isConfirmed: { await confirmation.isGiven }),
            logger: logger)
        let meters = Meters()
        counts = EnergyCounts(meters: meters, repository: store)
        let changes = ChangeMarks()
        recorder = SampleRecorder(
            meters: meters, repository: store, tiers: store, space: store, counts: counts, calendar: calendar,
            loop: loop, limits: configuration.recorderLimits, changes: changes, logger: logger)
        backups = BackupKeeper(
            store, outside: configuration.stateDirectory, settings: configuration.backup, logger: logger,
            sleep: { try await ContinuousClock().sleep(for: $0) }, changed: { changes.mark(.host) })
        storeWatch = StoreWatch(store, recorder: recorder, backups: backups, changes: changes, logger: logger)
        settings = SettingsService(
            repository: store, changes: changes,
            now: { HostMoment(wall: LinuxClock.wallNow, sinceBoot: LinuxClock.now) }, logger: logger)
        recordings = RecordingService(
            host: store.identity.host, meters: meters, repository: store, imports: store, settings: settings,
            loop: loop, saveInterval: configuration.flushInterval, logger: logger)
        marks = MarkService(
            host: store.identity.host, settings: settings, repository: store, wallNow: { LinuxClock.wallNow },
            believed: { try? await calendar.today() }, formerIDs: store.formerIDs)
        imports = ImportService(
            repository: store, recordings: recordings, calendar: calendar, wallNow: { LinuxClock.wallNow },
            limits: ImportService.Limits(storeBytesMax: configuration.recorderLimits.maxBytes), logger: logger)
        log = LogKeeper(
            meters: meters, repository: store, calendar: calendar, loop: loop,
            flushInterval: configuration.flushInterval, logger: logger)
        alerts = AlertService(
            meters: meters, repository: store, notifier: Notifier(configuration.notify, host: name), log: log,
            changes: changes, loop: loop, logger: logger)
        let radios = Self.radios(on: loop, configuration.bluetooth, logger)
        let proxies = Self.proxies(on: loop, configuration.bluetooth, logger)
        offers = ProxyOffers(
            configuration.discovery.browses ? AvahiDiscovery(loop: loop) : nil,
            configured: configuration.bluetooth.proxies + configuration.boards.map(\.node), proxies: proxies)
        let computed =
            configuration.formulas.isEmpty ? nil : ComputedMeters(configuration.formulas, on: loop)
        let ports = PortWatcher(
            scanner: makeScanner(store.identity.host), loop: loop,
            listen: { UdevMonitor()?.events(on: loop) })
        var dependencies = MeterDirectory.Dependencies(
            loop: loop,
            opener: Self.openers(
                on: loop, ports, radios, proxies, computed, configuration, host: store.identity.host),
            ports: ports,
            repository: store, settings: settings, meters: meters, recorder: recorder,
            hostID: store.identity.host.description, makeRNG: { SystemRandomNumberGenerator() })
        dependencies.catalogue = configuration.catalogue
        dependencies.radios = RadioSources(([radios, proxies] as [(any RadioSource)?]).compactMap { $0 })
        (dependencies.recordings, dependencies.marks, dependencies.counts) = (recordings, marks, counts)
        (dependencies.alerts, dependencies.log, dependencies.computed) = (alerts, log, computed)
        directory = MeterDirectory(dependencies: dependencies, logger: logger)
        loads = LoadService(directory: directory, recordings: recordings, loop: loop, logger: logger)
        identity = try await Self.identity(name: name, in: store)
        let fetched = FetchedOnce()
        rebuild = RebuildService(
            settings: settings, wallNow: { LinuxClock.wallNow }, hasFetched: { fetched.isTrue }, logger: logger)
        member = CloudMember(
            CloudMember.Dependencies(
                store: store, settings: settings, rebuild: rebuild, fetched: fetched, directory: directory, loop: loop,
                file: MembershipFile(path: "\(configuration.stateDirectory)/cloud.json"),
                identity: identity, machine: machine.digest,
                configuration: configuration.cloud, relay: configuration.relay,
                actions: RelayedActions(directory: directory, recordings: recordings), log: log, calendar: calendar,
                timing: configuration.sync),
            logger: logger)
        zone = ZoneMeters(
            directory: directory, settings: settings, keeper: { [member] in await member.keeper() },
            relay: { [member] in await member.watcher() }, commander: { [member] in await member.commander() })
        recordings.tellResults { [alerts] in alerts.tell($0, of: $1, over: $2) }
        alerts.ask { [directory] in await directory.alertFacts(of: $0) }
        confirmation.ask { [member] in await member.confirmsCalendar() }
        influx = InfluxService.make(
            configuration.influx, folder: configuration.stateDirectory, hostName: name, store: store,
            recorder: recorder, directory: directory, loop: loop, logger: logger)
        bridge = HomeBridge.make(
            configuration.mqtt, host: store.identity.host, hostName: name, directory: directory, alerts: alerts,
            marks: marks, loop: loop,
            formerMeters: try await store.formerIDs().keys.sorted(), logger: logger)
        tellOfTheStore()
    }

    private static func radios(on loop: IOLoop, _ settings: Configuration.Bluetooth, _ logger: Logger) -> Radios? {
        guard settings.isUsed else { return nil }
        var configuration = Radios.Configuration()
        configuration.linksMax = settings.linksMax
        configuration.adapters = Set(settings.adapters)
        configuration.files.requests = settings.requestFolder
        configuration.search = settings.search
        configuration.isAgent = true
        return Radios(loop: loop, configuration: configuration, logger: logger)
    }

    private static func proxies(on loop: IOLoop, _ settings: Configuration.Bluetooth, _ logger: Logger) -> Proxies? {
        guard !settings.proxies.isEmpty else { return nil }
        return Proxies(
            settings.proxies, loop: loop, makeRNG: { SystemRandomNumberGenerator() }, logger: logger)
    }

    private static func openers(
        on loop: IOLoop, _ ports: PortWatcher, _ radios: Radios?, _ proxies: Proxies?, _ computed: ComputedMeters?,
        _ configuration: Configuration, host: HostID
    ) -> ChannelOpeners {
        let boards = NodeChannelOpener(configuration.boards, on: loop, makeRNG: { SystemRandomNumberGenerator() })
        var openers: [LinkAddress.Transport: any ChannelOpener] = [
            .serial: SerialChannelOpener(loop: loop),
            .hid: HidChannelOpener(loop: loop, isDeclared: { ports.declaresRawHID(at: $0) }),
            .bulk: BulkChannelOpener(loop: loop),
            .network: SmartPlugChannelOpener(
                configuration.smartPlugs.enumerated().compactMap { index, plug in
                    configuration.mqtt.link(clientID: "metergateway-\(host)-\(index + 1)").map { (plug, $0) }
                }, on: loop, else: boards),
        ]
        if let radios {
            let opener = RadioChannelOpener(loop: loop, slots: radios)
            openers[.ble] = opener
            openers[.spp] = opener
        }
        openers[.computed] = computed
        if let proxies { openers[.ble] = ProxyChannelOpener(proxies, else: openers[.ble], on: loop) }
        return ChannelOpeners(openers, loop: loop)
    }

    private static func identity(name: String, in store: MeterStore) async throws -> LeaseKeeper.Identity {
        var rng = SystemRandomNumberGenerator()
        let session = SessionID(using: &rng)
        // The lock on the store proves that every earlier process has ended, so this one may take over their leases.
        let previous = try await store.leaseSession()
        return LeaseKeeper.Identity(
            host: store.identity.host, hostName: name, session: session, previousSession: previous)
    }

    private func tellOfTheStore() {
        if let setAside = store.setAside {
            logger.error(
                "new empty store created: the previous store is damaged or missing",
                metadata: ["cause": "\(setAside.message)"])
        }
        if let replaced = store.identity.replaced {
            logger.warning(
                "store copied from another machine: this host has a new id and must join its cloud again",
                metadata: ["was": "\(replaced)", "is": "\(store.identity.host)"])
        }
    }

    /// - Parameter declared: ports to watch besides those of the configuration; connected if `wanted`.
    func restore(declared: [DeclaredPort], wanted: Bool) async throws {
        // Restore the membership first: a member of a cloud must request a lease before it uses a meter.
        try await member.restore()
        let former = try await store.formerIDs()
        try await recordings.restore(former: former)
        let mainIDs = AliasMap.mainIDs(former: former, aliases: try await settings.aliases())
        try await counts.restore(mainIDs: mainIDs)
        try await imports.restore()
        try await alerts.restore(mainIDs: mainIDs)
        try await log.restore()
        try await loads.restore()
        try await directory.restore()
        for port in configuration.ports { try await directory.declare(port.declared, wanted: port.connects) }
        for port in declared { try await directory.declare(port, wanted: wanted) }
        try await settings.publish(hostName: name)
    }

    /// Returns the services in the order of their start. They stop in reverse order: meters with their streams, the
    /// cloud membership with its leases, the control server, and last the services that write remaining measurements.
    ///
    /// The web page stops before the meters, because its streams would otherwise continue. So does the bridge to the
    /// MQTT broker, because it would report each meter as gone.
    func services(onRunning: @escaping @Sendable () -> Void) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        let live = LiveFeed(liveSources, changes: settings.changes, loop: loop)
        let routes = MeterRoutes(
            directory: directory, zone: zone, version: .current, alertsRaised: { [alerts] in alerts.raisedCount }
        ) { [storeWatch] in
            storeWatch.status()
        }
        let series = SeriesService(
            repository: store, recorder: recorder, wallNow: { LinuxClock.wallNow },
            ids: { [directory] in await directory.ids(of: $0) },
            staleAfter: { [directory] in await directory.staleAfter(of: $0) })
        let metrics = MetricsRoute(
            routes: routes, settings: settings, alerts: alerts, engine: { [member] in await member.engine() },
            // Ignore the error here: without a size, the page omits this metric.
            storeBytes: { [store] in try? await store.fileBytes() }, broker: { await brokerStatus() },
            process: { ProcessFigures.current })
        let all = GatewayRoutes(
            meters: routes, metrics: metrics, live: LiveRoutes(feed: live),
            broker: BrokerRoutes { await brokerStatus() }, influx: InfluxRoutes { influxStatus },
            leases: LeaseRoutes(
                directory: directory, settings: settings, keeper: { [member] in await member.keeper() }),
            sync: SyncRoutes(settings: settings, engine: { [member] in await member.engine() }),
            parked: ParkedRoutes(parked: ParkedService(repository: store, settings: settings)),
            history: HistoryRoutes(directory: directory, settings: settings, rebuild: rebuild),
            series: SeriesRoutes(directory: directory, series: series),
            recordings: RecordingRoutes(
                directory: directory, zone: zone, recordings: recordings, series: series, marks: marks, alerts: alerts,
                loads: loads),
            stretches: StretchRoutes(directory: directory, series: series, recordings: recordings, marks: marks),
            alerts: AlertRoutes(directory: directory, alerts: alerts), log: MeterLogRoutes(log: zoneLog),
            pd: PDRoutes(directory: directory), marks: MarkRoutes(directory: directory, marks: marks),
            support: SupportRoutes(directory: directory, nodes: { [offers] in await offers.nodes() }),
            imports: ImportRoutes(
                directory: directory, imports: imports, loop: loop,
                zoneOffset: { LinuxClock.zoneOffset(at: $0) }, zoneFile: { LinuxClock.zoneFile(named: $0) }),
            joining: member)
        let page = configuration.web.serves ? webPage(all, series) : nil
        let router = all.controlRouter(page: page)
        let server = ControlServer(router: router, socketPath: configuration.socketPath, logger: logger)
        var services: [(String, any Service)] = [
            ("recorder", FinishingService(body: recorder.run, finish: recorder.finish)),
            ("recordings", FinishingService(body: recordings.run, finish: recordings.finish)),
            ("log", FinishingService(body: log.run, finish: log.finish)),
            ("alerts", FinishingService(body: alerts.run, finish: alerts.finish)),
        ]
        if let backups { services.append(("backups", backups)) }
        if let influx { services.append(("InfluxDB", FinishingService(body: influx.run, finish: influx.finish))) }
        services += [
            ("control socket", server.application(onRunning: onRunning)),
            ("member of a cloud", MemberService(member: member)),
            ("meters", DirectoryService(directory: directory)),
            ("loads", FinishingService(body: loads.run, finish: loads.finish)),
            ("live", LiveService(live: live, page: page)),
        ]
        if let bridge { services.append(("broker", FinishingService(body: bridge.run, finish: bridge.finish))) }
        return services.map { .init(service: $1, serviceName: $0) }
    }

    private var zoneLog: ZoneLog {
        ZoneLog(
            keeper: log, directory: directory, settings: settings, marks: marks, host: identity,
            shares: configuration.relay.shares,
            link: { [member] in await member.logLink() },
            now: { HostMoment(wall: LinuxClock.wallNow, sinceBoot: LinuxClock.now) })
    }

    private func brokerStatus() async -> BrokerStatus {
        guard let bridge, let address = configuration.mqtt.address else { return BrokerStatus() }
        return BrokerStatus(await bridge.status, at: address)
    }

    private var influxStatus: InfluxStatus {
        guard let influx, let target = configuration.influx.target else { return InfluxStatus() }
        return InfluxStatus(influx.state, at: target)
    }

    private var liveSources: LiveFeed.Sources {
        LiveFeed.Sources(
            // Do not wait for newly watched meters: an open page gets their measurements from its stream.
            meters: { [zone] in await zone.status(within: .zero) },
            taken: { [zone] in await zone.takeStatus(ofAll: $0) },
            host: { [directory, storeWatch, member, settings, alerts] in
                var body = LiveBody(at: 0)
                (body.adapters, body.store) = (await directory.adapters(), storeWatch.status())
                (body.cloud, body.refresh_version) = (await member.status(), await settings.refreshVersion)
                if let engine = await member.engine() { body.sync = SyncStatusBody(await engine.report()) }
                body.alerts_raised = alerts.raisedCount
                return body
            })
    }

    private func webPage(_ routes: GatewayRoutes, _ series: SeriesService) -> WebPage {
        var dependencies = WebPage.Dependencies(configuration, hostName: name, logger: logger)
        dependencies.announcer = configuration.announcer(of: "meterd", on: loop, logger)
        if configuration.web.profiler {
            dependencies.profiler = Profiler(
                directory: directory, series: series, host: recordings.host, now: dependencies.now,
                makeRNG: dependencies.makeRNG)
        }
        return WebPage(dependencies, router: routes.pageRouter(), logger: logger)
    }

    func close() throws {
        try store.close()
    }
}

extension MeterStore: BackedUpStore {
    /// Kind of backup file. Its prefix contains the host's id, because several hosts may share a backup folder.
    var backupKind: BackupName.Kind {
        BackupName.Kind(prefix: "meterd-\(identity.host.description.prefix(8))", suffix: "sqlite")
    }

    func backup(to path: String, at now: WallTime) async throws { try await backup(to: path) }

    func checkBackup(at path: String) async throws { try await Self.checkBackup(at: path) }
}

// MARK: Folders

extension Host {
    private static func prepareDirectories(_ configuration: Configuration) throws(ConfigurationError) {
        try make(configuration.stateDirectory, mode: 0o750)
        do {
            try configuration.backup.directory.map { try BackupKeeper.check($0, outside: configuration.stateDirectory) }
        } catch {
            throw ConfigurationError("\(error)", next: "backup.directory in meterd.toml takes another folder")
        }
        // The socket's own mode and group protect it, so everybody may enter its folder.
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

    private static func make(_ folder: String, mode: UInt32) throws(ConfigurationError) {
        do throws(Errno) {
            try Folder.make(folder, mode: mode)
        } catch {
            throw ConfigurationError(
                "\(folder) cannot be made: \(error)",
                next: "make it, or choose another with --state-directory or --socket")
        }
    }
}

/// Runs `body` until shutdown, then calls `finish`, upon which `body` writes its remaining data and returns.
private struct FinishingService: Service {
    let body: @Sendable () async -> Void
    let finish: @Sendable () -> Void

    func run() async throws {
        await withGracefulShutdownHandler {
            await body()
        } onGracefulShutdown: {
            finish()
        }
    }
}

private struct DirectoryService: Service {
    let directory: MeterDirectory

    func run() async throws {
        await cancelWhenGracefulShutdown { await directory.run() }
        await directory.shutdown()
    }
}

private struct MemberService: Service {
    let member: CloudMember

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await member.run() }
            // Ignore cancellation without graceful shutdown: the membership must be shut down even then.
            try? await gracefulShutdown()
            await member.shutdown()
        }
    }
}

/// Whether this host has fetched all of the cloud's records since the start; true without a cloud.
final class FetchedOnce: Sendable {
    private let state: Mutex<Bool>

    init() { state = Mutex(true) }

    var isTrue: Bool { state.withLock { $0 } }

    func becomes(_ value: Bool) { state.withLock { $0 = value } }
}
