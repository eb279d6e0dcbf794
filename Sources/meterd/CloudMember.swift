import CloudAPI
import CloudClient
import Domain
import Gateway
import GatewayAPI
import GatewayServer
import LinuxIO
import Logging
import MeterStore
import ServerKit

/// This host as a member of a cloud. Joins and leaves clouds. Each membership has its own client, sync engine and lease
/// keeper.
actor CloudMember: CloudJoining {
    struct Dependencies: Sendable {
        var store: MeterStore
        var settings: SettingsService
        var rebuild: RebuildService
        var fetched: FetchedOnce
        var directory: MeterDirectory
        var loop: IOLoop
        var file: MembershipFile
        var identity: LeaseKeeper.Identity
        /// Digest of the machine's id (`Machine.present`).
        var machine: String
        var configuration: Configuration.Cloud
        var relay: Configuration.Relay
        var actions: RelayedActions
        var log: LogKeeper
        /// Confirmed present date, by which stored data is deleted at its maximum age.
        var calendar: RetentionCalendar
        var timing: SyncTiming
    }

    private struct Active: Sendable {
        var membership: CloudMembership
        var client: CloudClient
        var engine: SyncEngine
        var keeper: LeaseKeeper
        var uplink: RelayUplink
        var watcher: RelayWatcher
        var executor: RequestExecutor
        var commander: RelayCommander
    }

    private let dependencies: Dependencies
    private let logger: Logger
    private let starts: AsyncStream<Active>
    private let startSink: AsyncStream<Active>.Continuation
    private var active: Active? { didSet { mark() } }
    private var isJoining = false
    private var policy: LeasePolicy? { didSet { mark() } }
    /// Rights that the cloud grants to this host; nil until the cloud reports them.
    private var role: HostRole? { didSet { mark() } }
    /// Command line with which other hosts join; nil if this meterd serves no cloud.
    private var serving: String? { didSet { mark() } }
    /// Reason why this meterd cannot serve its cloud yet; nil if it can, or serves none.
    private var unserved: ListenFailure? { didSet { mark() } }

    init(_ dependencies: Dependencies, logger: Logger) {
        self.dependencies = dependencies
        self.logger = logger
        (starts, startSink) = AsyncStream.makeStream()
    }

    private func mark() { dependencies.settings.changes.mark([.zone, .host]) }

    func run() async {
        await withDiscardingTaskGroup { group in
            // Without a cloud, convert old records now. A member of a cloud does so after its first complete sync.
            if active == nil { group.addTask { await self.rebuildWhereDue() } }
            for await active in starts {
                group.addTask { await self.operate(active) }
            }
        }
    }

    /// Resumes the stored membership. Call it before meters are used, because each needs its lease.
    func restore() async throws(GatewayError) {
        guard let membership = try dependencies.file.read() else { return }
        do throws(SyncFailure) {
            try await begin(membership)
        } catch {
            throw GatewayError(error, joining: membership.urls)
        }
    }

    /// Releases every lease within seconds. Keeps the stored membership.
    func shutdown() async {
        startSink.finish()
        await endActive()
    }

    /// Joins the cloud that this program serves, or updates its URL in the membership.
    func serves(_ cloud: EmbeddedCloud, port: Int, logger: Logger) async {
        serving = cloud.joinLine(port: port)
        unserved = nil
        if let membership = active?.membership {
            if let url = cloud.newURL(for: membership, port: port) { await move(membership, to: url) }
            return
        }
        guard let request = cloud.joinRequest(port: port) else { return }
        do throws(GatewayError) {
            _ = try await join(request)
        } catch {
            logger.error("joining the built-in cloud failed", metadata: ["cause": "\(error)"])
        }
    }

    func servesNothing(_ failure: ListenFailure) { unserved = failure }

    private func move(_ membership: CloudMembership, to url: String) async {
        var moved = membership
        moved.urls = [url]
        do throws(SyncFailure) {
            try keep(moved)
            await endActive()
            try await begin(moved)
            logger.notice(
                "built-in cloud has a new address",
                metadata: ["before": "\(membership.urls)", "now": "\(url)"])
        } catch {
            logger.error(
                "new address of the built-in cloud not adopted", metadata: ["url": "\(url)", "cause": "\(error)"])
        }
    }

    // MARK: Requests from people

    func join(_ request: CloudJoinRequest) async throws(GatewayError) -> CloudStatus {
        guard !isJoining else {
            throw GatewayError(.refused, "another join is under way", next: "wait for it: meterctl cloud status")
        }
        isJoining = true
        defer { isJoining = false }
        let pin = request.pin.flatMap { CertificatePin($0) }
        if let text = request.pin, pin == nil {
            throw GatewayError(
                .badRequest, "\"\(text)\" is not a pin",
                next: "it is sha256: and 64 hex digits, as the cloud printed it")
        }
        let earlier = [active?.membership].compactMap { $0 } + dependencies.file.left
        let host = JoinRequest(
            hostID: dependencies.identity.host.description, hostName: dependencies.identity.hostName,
            machine: dependencies.machine,
            oldTokens: earlier.filter { $0.isOfCloud(at: request.urls, pin: pin) }.map(\.token.text))
        do throws(SyncFailure) {
            var membership = try await CloudClient.join(
                urls: request.urls, token: Secret(request.token), pin: pin, as: host)
            membership.bringsAll = request.bring_all ?? false
            try keep(membership, after: active?.membership)
            await endActive()
            try await begin(membership)
        } catch {
            throw GatewayError(error, joining: request.urls)
        }
        return await status()
    }

    func leave() async throws(GatewayError) -> CloudStatus {
        if let active { try dependencies.file.addLeft(active.membership) }
        try dependencies.file.remove()
        await endActive()
        return await status()
    }

    func status() async -> CloudStatus {
        var status = CloudStatus(
            joined: active != nil, urls: active?.membership.urls ?? [], host_id: dependencies.identity.host.description,
            host_name: dependencies.identity.hostName)
        status.serving = serving
        status.unserved = unserved.map { "\($0.message). \($0.next)" }
        guard let active else { return status }
        let report = await active.engine.status
        status.zone = active.membership.zone
        status.pin = active.membership.pin?.description
        status.policy = policy?.rawValue
        status.role = role?.rawValue
        if case .open = report.stream { status.connected = true }
        status.clock_offset_ms = report.serverOffset.map { -$0.offset.milliseconds }
        if let halt = report.halt {
            status.error = "\(halt.failure.message): \(halt.advice)"
        } else if !status.connected {
            status.error = report.lastSyncError?.message
        }
        return status
    }

    func retire(_ host: String) async throws(GatewayError) -> RetiredHost {
        guard let active else {
            throw GatewayError(
                .refused, "this host belongs to no cloud, so there is no other host to retire",
                next: "meterctl cloud join URL …")
        }
        do throws(SyncFailure) {
            let gone = try await active.client.retire(host)
            return RetiredHost(id: gone.id, name: gone.name, tokens: gone.tokens, leases: gone.leases)
        } catch {
            if error.kind == .readOnly { throw GatewayError.mayOnlyLook("it retires no other") }
            throw GatewayError(
                error.kind == .badRequest ? .badRequest : .refused, error.message,
                next: "metercloud host list, on the cloud's machine, shows its hosts")
        }
    }

    func engine() -> SyncEngine? { active?.engine }

    /// Returns whether a cloud on another machine has nearly the same time.
    func confirmsCalendar() async -> Bool {
        guard let active, serving == nil, !active.membership.urls.contains(where: CalendarConfirmation.isThisMachine)
        else { return false }
        guard let offset = await active.engine.status.serverOffset?.offset else { return false }
        return abs(offset.milliseconds) <= CalendarConfirmation.offsetMax.milliseconds
    }

    func keeper() -> LeaseKeeper? { active?.keeper }

    func watcher() -> RelayWatcher? { active?.watcher }

    func commander() -> RelayCommander? { active?.commander }

    func logLink() -> (any LogLink)? { active?.client }

    private var zoneLog: ZoneLog {
        ZoneLog(
            keeper: dependencies.log, directory: dependencies.directory, settings: dependencies.settings,
            host: dependencies.identity, shares: dependencies.relay.shares,
            now: { HostMoment(wall: LinuxClock.wallNow, sinceBoot: LinuxClock.now) })
    }

    // MARK: One membership

    /// Stores a membership before its use: a crash must not lose the access token that the cloud has just issued.
    private func keep(
        _ membership: CloudMembership, after earlier: CloudMembership? = nil
    ) throws(SyncFailure) {
        do throws(GatewayError) {
            try dependencies.file.write(membership)
            if let earlier { try dependencies.file.addLeft(earlier) }
        } catch {
            throw SyncFailure(.other, error.message)
        }
    }

    private func begin(_ membership: CloudMembership) async throws(SyncFailure) {
        let client = try CloudClient(membership)
        let keeper = LeaseKeeper(
            identity: dependencies.identity, authority: client, hostPolicy: dependencies.configuration.policy,
            zonePolicy: policy ?? .keep, timeToLive: dependencies.configuration.timeToLive,
            tokens: await tokens(in: membership.zone), changes: dependencies.settings.changes, loop: dependencies.loop,
            rng: SystemRandomNumberGenerator(),
            logger: logger, log: dependencies.log)
        let uplink = RelayUplink(
            link: client, keeper: keeper, shares: dependencies.relay.shares, loop: dependencies.loop, logger: logger
        ) { [directory = dependencies.directory] in await directory.session(of: $0)?.relaySource }
        let watcher = RelayWatcher(
            link: client, host: dependencies.identity.host, changes: dependencies.settings.changes,
            loop: dependencies.loop, logger: logger)
        let log = zoneLog
        let executor = RequestExecutor(
            link: client, keeper: keeper, isAllowed: dependencies.relay.takesCommands, loop: dependencies.loop,
            logger: logger, log: dependencies.log, act: dependencies.actions.perform
        ) { question throws(GatewayError) in try await log.part(for: question) }
        let commander = RelayCommander(link: client, keeper: keeper) {
            var rng = SystemRandomNumberGenerator()
            return RequestID(using: &rng)
        }
        let host = try CloudAddress(membership.urls[0]).host
        var syncing = SyncEngine.Dependencies(
            link: client, repository: dependencies.store, loop: dependencies.loop,
            network: NetworkWatcher(loop: dependencies.loop, host: host), rng: SystemRandomNumberGenerator(),
            changed: { [settings = dependencies.settings] in await settings.merged($0) },
            heard: { event in
                await keeper.handle(event)
                await uplink.handle(event)
                await executor.handle(event)
            },
            hostName: { [store = dependencies.store] in await store.hostName(of: $0) },
            confirmedToday: { [calendar = dependencies.calendar] in await calendar.confirmed() })
        syncing.changes = dependencies.settings.changes
        syncing.today = { [calendar = dependencies.calendar] in try await calendar.today() }
        let engine = SyncEngine(
            zone: membership.zone, host: dependencies.identity.host, timing: dependencies.timing,
            bringsAll: membership.bringsAll, dependencies: syncing, logger: logger)
        dependencies.fetched.becomes(false)
        let begun = Active(
            membership: membership, client: client, engine: engine, keeper: keeper, uplink: uplink, watcher: watcher,
            executor: executor, commander: commander)
        active = begun
        await dependencies.directory.use(keeper)
        startSink.yield(begun)
        logger.notice(
            "cloud sync and leases started", metadata: ["urls": "\(membership.urls)", "zone": "\(membership.zone)"])
    }

    private func operate(_ active: Active) async {
        // Subscribe before the engine runs, so that no event is missed.
        let words = active.engine.events.subscribe(buffer: 1024)
        let results = active.engine.results.subscribe()
        let grants = active.keeper.grants.subscribe(buffer: 1)
        let tokens = active.keeper.tokens.subscribe(buffer: 1024)
        let recoveries = active.keeper.recoveries.subscribe(buffer: 1)
        let localChanges = dependencies.settings.localChanges.subscribe(buffer: 1)
        await withDiscardingTaskGroup { group in
            group.addTask { await active.keeper.run() }
            group.addTask {
                for await word in words {
                    guard case .accountChecked(let account, _)? = word.value.input else { continue }
                    await self.heard(account, of: active)
                }
            }
            group.addTask {
                for await _ in localChanges { active.engine.trigger(.localChange) }
            }
            group.addTask {
                for await _ in grants { return await self.keepSession() }
            }
            group.addTask {
                for await meter in tokens { await self.keepToken(of: meter.value, in: active) }
            }
            group.addTask {
                // Sync when the lease keeper reaches the cloud again: the sync session might wait for minutes.
                for await _ in recoveries { active.engine.trigger(.networkGained) }
            }
            group.addTask {
                for await result in results where result.value.end == .complete { await self.fetchedAll() }
            }
            // The engine ends after the lease keeper (`endActive`). The other tasks only wait for events.
            await active.engine.run()
            group.cancelAll()
        }
        await active.client.shutdown()
    }

    private func heard(_ account: CloudAccount, of active: Active) async {
        role = account.role
        await active.keeper.roleIs(account.role)
        guard let policy = LeasePolicy(rawValue: account.policy) else { return }
        self.policy = policy
        await active.keeper.policyIs(policy)
    }

    /// Stores this process's lease session, so that after a restart meterd may take over its own leases.
    private func keepSession() async {
        do throws(StoreError) {
            try await dependencies.store.keepLeaseSession(dependencies.identity.session)
        } catch {
            logger.error(
                "lease session not stored: after a crash this host waits until its own leases expire",
                metadata: ["cause": "\(error)"])
        }
    }

    private func tokens(in zone: String) async -> [MeterID: FencingToken] {
        do throws(StoreError) {
            return try await dependencies.store.leaseTokens(in: zone)
        } catch {
            logger.error("lease tokens not read", metadata: ["cause": "\(error)"])
            return [:]
        }
    }

    private func keepToken(of meter: MeterID, in active: Active) async {
        guard let token = await active.keeper.greatestToken(of: meter) else { return }
        do throws(StoreError) {
            try await dependencies.store.keepLeaseToken(token, of: meter, in: active.membership.zone)
        } catch {
            logger.error(
                "lease token not stored: it is lost at the next restart",
                metadata: ["meter.id": "\(meter)", "cause": "\(error)"])
        }
    }

    private func fetchedAll() async {
        dependencies.fetched.becomes(true)
        await rebuildWhereDue()
    }

    /// Converts records of an older format once all are fetched (Docs/SettingsAndRebuild.md#rebuild).
    private func rebuildWhereDue() async {
        do throws(GatewayError) {
            guard try await !dependencies.rebuild.status().isComplete else { return }
            _ = try await dependencies.rebuild.run()
        } catch {
            logger.error("rebuild of records failed", metadata: ["cause": "\(error)"])
        }
    }

    /// Ends the active membership. The meters' sessions release their links first, because only the lease of an unused
    /// meter can be released.
    private func endActive() async {
        guard let ended = active else { return }
        active = nil
        (policy, role) = (nil, nil)
        dependencies.fetched.becomes(true)
        await ended.watcher.shutdown()
        await ended.uplink.shutdown()
        await dependencies.directory.use(nil)
        await ended.keeper.shutdown()
        await ended.engine.stop()
    }
}

extension MeterStore {
    fileprivate func hostName(of host: HostID) async -> String? {
        let record = try? await record(RecordKey(type: .host, name: host.description))
        guard case .string(let name) = record?.properties["name"]?.value else { return nil }
        return name
    }
}

extension GatewayError {
    fileprivate init(_ failure: SyncFailure, joining urls: [String]) {
        let next =
            switch failure.kind {
            case .notAuthenticated: "the token is not (or no more) one of that cloud's: metercloud token list"
            case .permissionDenied: "on the cloud's machine, metercloud token list shows the tokens of its hosts"
            case .wrongCertificate: "compare the pin with the one that the cloud printed"
            case .network, .serviceUnavailable: "is the address right, and does metercloud run there?"
            case .badRequest: "correct it"
            case .rateLimited: "wait a minute, then try again"
            case .quotaExceeded: "the zone has no room: metercloud zone show, on the cloud's machine"
            case .readOnly, .zoneNotFound, .changeTokenExpired, .timelineLost, .anotherZone, .limitExceeded, .clockSkew,
                .leaseHeld,
                .other:
                "are meterd and metercloud of one version?"
            }
        self.init(failure.kind == .badRequest ? .badRequest : .refused, failure.message, next: next)
    }
}
