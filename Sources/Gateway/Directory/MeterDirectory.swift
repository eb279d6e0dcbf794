package import Domain
package import GatewayAPI
package import Logging
import MeterCodec

/// All meters of this host, with one session each. Only this type uses both the store and the sessions. A failing store
/// never stops a session.
///
/// Runs on the session loop: visits all sessions without suspension, and adds or removes a meter with all its parts in
/// one step (`addSession`, `drop`).
package actor MeterDirectory {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private(set) var dependencies: Dependencies
    let logger: Logger
    private nonisolated let loop: any SessionLoop
    package nonisolated let log: LogKeeper?
    nonisolated let meters: Meters
    /// Sorted by the text of their ids.
    private(set) var sessions: [DeviceSession] = [] { didSet { dependencies.settings.changes.mark(.zone) } }
    private(set) var known: [MeterID: KnownMeter] = [:]
    let aliases = LocalAliases()
    private(set) var isShuttingDown = false
    let discoveries = AsyncStream.makeStream(of: MeterDiscovery.self)

    package init(dependencies: Dependencies, logger: Logger) {
        self.dependencies = dependencies
        self.logger = logger
        loop = dependencies.loop
        meters = dependencies.meters
        log = dependencies.log
    }

    /// Call once, before `run`.
    package func restore() async throws {
        await dependencies.settings.subscribe { [weak self] in await self?.hear($0) }
        aliases.former = try await dependencies.repository.formerIDs()
        aliases.update(try await dependencies.settings.aliases())
        for meter in try await dependencies.repository.meters() {
            if meter.id.isUSB { dependencies.ports.remember(meter.id, meter.plug) }
            guard aliases.meter(of: meter.id) == nil else { continue }
            known[meter.id] = meter
            _ = try await makeSession(for: meter)
            if meter.isDeclared, let port = declaredPort(of: meter) { dependencies.ports.watch(port) }
        }
        let wanted = known.values.count(where: \.isWanted)
        logger.info("meters restored", metadata: ["known": "\(known.count)", "wanted": "\(wanted)"])
    }

    /// Handles appearing and vanishing meters, until the task is cancelled.
    package func run() async {
        await dependencies.radios?.follow {
            [weak self] in
            self?.radioDemand() ?? RadioDemand()
        } remedied: {
            [weak self] in
            self?.remedied($0)
        } changed: {
            [changes = dependencies.settings.changes] in
            changes.mark(.host)
        }
        let (stream, continuation) = AsyncStream.makeStream(of: SightingEvent.self)
        await withDiscardingTaskGroup { group in
            group.addTask { [weak self, discoveries] in
                for await discovery in discoveries.stream { await self?.handle(discovery) }
            }
            let sources: [(any SightingSource)?] = [dependencies.ports, dependencies.radios]
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for source in sources.compactMap(\.self) {
                        group.addTask { await source.run { continuation.yield($0) } }
                    }
                }
                continuation.finish()
            }
            for await event in stream { await handle(event) }
            group.cancelAll()
        }
    }

    /// Shuts down every session. No new one is created afterwards.
    package func shutdown() {
        isShuttingDown = true
        dependencies.alerts?.leaveAll()
        forEach { $0.shutdown() }
        logger.info("meter sessions ended", metadata: ["count": "\(sessions.count)"])
    }

    /// Called when this host joins or leaves a cloud.
    package func use(_ gate: (any LinkGate)?) {
        dependencies.gate = gate
        forEach { $0.use(gate) }
    }

    /// Calls `body` for each session in the order of the meters' ids, without suspension.
    func forEach(_ body: (isolated DeviceSession) -> Void) {
        for session in sessions { session.assumeIsolated(body) }
    }

    // MARK: Requests from people

    package func status() -> [MeterStatus] {
        var all: [MeterStatus] = []
        forEach { all.append($0.status()) }
        return all
    }

    /// Returns, for the live feed, the status of each meter flagged as changed, or of all meters. Clears the flags.
    func takeStatus(ofAll isAll: Bool) -> [MeterStatus] {
        var taken: [MeterStatus] = []
        forEach { if $0.states.takeMark() || isAll { taken.append($0.status()) } }
        return taken
    }

    /// - Parameter id: the main id or an alias.
    package func session(of id: MeterID) -> DeviceSession? { meters.session(of: canonical(id)) }

    /// Subscribes to a meter's readings; nil without a session or during shutdown.
    func readings(of id: MeterID, all: Bool = false) -> Feed<TimedReading>.Subscription? {
        isShuttingDown ? nil : session(of: id)?.feed(ofAll: all).subscribe()
    }

    package func adapters() async -> [AdapterStatus] { await dependencies.radios?.adapters() ?? [] }

    /// Devices that the radios received recently and did not identify as meters.
    package func others() async -> [ScanOther] { await dependencies.radios?.others() ?? [] }

    /// Returns the meters that are present. Repeated calls keep the radios scanning.
    package func scan() async -> [ScanEntry] {
        await dependencies.radios?.sought()
        var all: [ScanEntry] = []
        forEach { session in
            if let entry = session.scanEntry() { all.append(entry) }
        }
        return all
    }

    /// - Throws: `noSuchMeter`, `ambiguousMeter`; `held` for another host's meter that this host has never seen.
    package func session(_ reference: String) async throws(GatewayError) -> DeviceSession {
        let id: MeterID
        do {
            id =
                if let exact = exactly(reference) { exact } else {
                    try MeterReference.resolve(reference, among: names, models: models)
                }
        } catch {
            throw await refusal(elsewhere: reference) ?? error
        }
        guard let session = meters.session(of: id) else {
            throw GatewayError(.noSuchMeter, "no meter is called \(reference.quoted)", next: "meterctl scan")
        }
        return session
    }

    /// Connects a meter, now and after a restart.
    ///
    /// - Parameter reference: a meter, or a device path with the request's `model`.
    package func connect(
        _ reference: String, _ request: ConnectRequest, by author: LogAuthor = .person
    ) async throws(GatewayError) -> MeterStatus {
        try checkRunning()
        if request.model != nil || request.id != nil { try await declare(path: reference, request) }
        let id = try await wanted(reference)
        return try await logging(request.words, of: id, called: reference, by: author) { () throws(GatewayError) in
            try await connect(id, request)
        }
    }

    private func connect(_ id: MeterID, _ request: ConnectRequest) async throws(GatewayError) -> MeterStatus {
        let end = request.timeout_ms.map { loop.now + .wait($0) }
        try await checkRole(id, request)
        let isSought = try await mustBeSought(id, request)
        let session = try await anySession(of: id)
        let model = await session.knownModel
        guard await session.canBeRead else {
            forgetPasserBy(id)
            throw GatewayError(
                .modelUnknown, "the model of \(session.id) is unknown",
                next: "name its port and model: meterctl connect /dev/… --model MODEL")
        }
        try await checkLink(request.over, of: session)
        let wasWanted = known[session.id]?.isWanted ?? false
        let failure = await remember(
            session.id, model: model, isWanted: true, link: request.over.flatMap { LinkPreference($0) })
        if isSought {
            await session.seek(ConnectOptions(request), patience: Self.askingTime(request))
        } else {
            await session.connect(ConnectOptions(request))
        }
        await dependencies.radios?.demandChanged()
        if let failure { throw failure }
        try await wait(for: session, request, until: end, wasWanted: wasWanted, isSought: isSought)
        return await session.status()
    }

    /// Disconnects a meter until the next `connect`. Waits until the lease is released, but only a few seconds if the
    /// cloud does not answer.
    package func disconnect(
        _ reference: String, by author: LogAuthor = .person
    ) async throws(GatewayError) -> MeterStatus {
        let session = try await session(reference)
        return try await logging("disconnect", of: session.id, called: reference, by: author) {
            () throws(GatewayError) in try await disconnect(session)
        }
    }

    private func disconnect(_ session: DeviceSession) async throws(GatewayError) -> MeterStatus {
        let failure = await remember(session.id, model: nil, isWanted: false)
        await session.disconnect()
        await dependencies.gate?.givenBack(session.id)
        await dependencies.radios?.demandChanged()
        if let failure { throw failure }
        return await session.status()
    }

    /// Runs a command and logs its outcome. Errors contain the caller's `reference` instead of the id.
    ///
    /// - Parameters:
    ///   - what: the command as typed after `meterctl`.
    ///   - order: as in `LogKeeper.logging`.
    func logging<Value>(
        _ what: String, of id: MeterID, called reference: String, by author: LogAuthor,
        sending order: MeterCommand? = nil, _ body: () async throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        try await log.logging(what, of: id, by: author, sending: order) { () throws(GatewayError) in
            do throws(GatewayError) { return try await body() } catch { throw error.calling(id, reference) }
        }
    }

    /// Watches a port that a user named in the configuration or on the command line.
    ///
    /// - Parameter wanted: whether to connect an unknown meter. For a known meter, the user's last connect or
    ///   disconnect takes precedence.
    package func declare(_ port: DeclaredPort, wanted: Bool = false) async throws(GatewayError) {
        try checkRunning()
        try checkDriver(of: port)
        let id = port.id ?? .port(host: dependencies.hostID, path: port.path)
        var meter = known[id] ?? KnownMeter(id: id, isWanted: wanted)
        meter.model = port.model
        meter.link = port.link
        meter.isDeclared = true
        try await save(meter)
        await release(port.link, to: id)
        if meters.session(of: id) == nil { try await open(meter) }
        if case .computed = port.link {
            dependencies.computed?.declared(port, as: id, in: self)
            return
        }
        var named = port
        named.id = id
        dependencies.ports.watch(named)
    }
}

extension MeterDirectory {
    private func declare(path: String, _ request: ConnectRequest) async throws(GatewayError) {
        guard path.hasPrefix("/") else {
            throw GatewayError(
                .badRequest, "\(path.quoted) is not a device path, so it takes no model or id",
                next: "give the path of the port, for example /dev/ttyUSB0")
        }
        let isRawHID = Self.isRawHIDNode(path)
        let models = self.models(over: isRawHID ? .hid : .serial)
        guard let text = request.model else {
            throw GatewayError(
                .badRequest, "no model was given for \(path)", next: "--model takes \(models)")
        }
        guard let model = dependencies.catalogue.model(named: text) else {
            throw GatewayError(
                .badRequest, "\(text.quoted) is not a model",
                next: models.split(separator: ", ").map { String($0) }.suggestion(for: text, "the models are \(models)")
            )
        }
        var id: MeterID?
        if let text = request.id {
            guard let parsed = MeterID(text) else {
                throw GatewayError(
                    .badRequest, "\(text.quoted) is not a meter id", next: "give a MAC address or usb:… id")
            }
            id = parsed
        }
        let meter = id ?? .port(host: dependencies.hostID, path: path)
        // The device must exist, so that a typing error creates no meter. An already declared port may be unplugged.
        let port = DeclaredPort(isRawHID ? .hid(path: path) : .serial(path: path), model: model, id: id)
        guard dependencies.ports.isThere(path) || known[meter]?.link == port.link else {
            throw GatewayError(
                .noSuchMeter, "no device is at \(path)",
                next: "correct the path, or plug it in first; ls /dev/serial/by-id lists what is plugged in")
        }
        try checkFree(path, for: meter)
        try await declare(port)
    }

    /// Whether the path has the kernel's name for raw HID. Other nodes must be declared in the configuration.
    private static func isRawHIDNode(_ path: String) -> Bool { path.hasPrefix("/dev/hidraw") }

    /// Throws if no driver supports the model, because meterd would retry endlessly.
    private func checkDriver(of port: DeclaredPort) throws(GatewayError) {
        guard dependencies.catalogue.driver(for: port.model, over: port.link.transport) == nil else { return }
        let kind =
            switch port.link {
            case .hid: "a raw HID device"
            case .network: "a network"
            case .computed: "a formula"
            case .serial, .bulk, .ble, .spp: "a serial port"
            }
        throw GatewayError(
            .badRequest, "a \(port.model.displayName) cannot be read over \(kind) yet",
            next: "models that can: \(models(over: port.link.transport))")
    }

    private func models(over transport: LinkAddress.Transport) -> String {
        dependencies.catalogue.models(over: transport).map(\.rawValue).joined(separator: ", ")
    }

    /// Throws if the path is a wanted meter's port, to detect typing errors. A user may still give an id to a meter
    /// that was identified only by its port.
    private func checkFree(_ path: String, for id: MeterID) throws(GatewayError) {
        let holder = known.values.first { meter in
            guard meter.id != id, meter.isDeclared, meter.isWanted, let other = meter.link?.node else { return false }
            return other == path ? !meter.id.isLocalOnly : dependencies.ports.isSamePort(other, path)
        }
        guard let holder else { return }
        throw GatewayError(
            .refused, "\(path) is the port of \(holder.id)",
            next: "correct the path, or disconnect that meter first: meterctl disconnect \(holder.id)")
    }

    /// Removes the link from other meters last seen on it.
    func release(_ link: LinkAddress, to id: MeterID) async {
        for other in known.values where other.id != id && other.link == link {
            var other = other
            other.link = nil
            other.isDeclared = false
            await meters.session(of: other.id)?.vanished(from: link)
            await saveOrLog(other)
        }
    }

    /// Throws if the requested kind of link is unavailable; there is no fallback to another kind.
    private func checkLink(_ kind: String?, of session: DeviceSession) async throws(GatewayError) {
        guard let kind else { return }
        guard let intent = LinkPreference(kind) else {
            let kinds = LinkAddress.Transport.allCases.map(\.rawValue) + [LinkPreference.anyWord]
            throw GatewayError(
                .badRequest, "\(kind.quoted) is not a kind of link",
                next: "the kinds are \(kinds.joined(separator: ", "))")
        }
        let there = await session.transports
        guard intent != .any, !there.contains(kind) else { return }
        throw GatewayError(
            .refused, "\(session.id) cannot be reached over \(kind)",
            next: there.isEmpty
                ? "bring it into range and switch it on: meterctl scan"
                : "it can be reached over \(there.joined(separator: " and ")); --over any uses that")
    }

    func checkRunning() throws(GatewayError) {
        if isShuttingDown { throw shuttingDown }
    }

    var shuttingDown: GatewayError {
        GatewayError(.shuttingDown, "meterd is stopping", next: "try again once it runs")
    }

    func removeKnown(_ id: MeterID) { known[id] = nil }

    /// Saves a meter. If the store fails, meterd logs the error and still serves the meter.
    func saveOrLog(_ meter: KnownMeter) async {
        do {
            try await save(meter)
        } catch {
            logger.error("meter not saved", metadata: ["meter.id": "\(meter.id)", "cause": "\(error)"])
        }
    }

    func makeSession(for meter: KnownMeter) async throws -> DeviceSession {
        try addSession(for: meter, settings: try await dependencies.settings.read(meter.id))
    }

    func addSession(for meter: KnownMeter, settings: StoredSettings? = nil) throws(GatewayError) -> DeviceSession {
        try checkRunning()
        if let session = meters.session(of: meter.id) { return session }
        let session = DeviceSession(
            id: meter.id, model: meter.model, isWanted: meter.isWanted, preferred: meter.preferred,
            lastTransport: meter.link?.transport, settings: settings?.settings ?? MeterSettings(),
            settingsNumber: settings?.number ?? 0, catalogue: dependencies.catalogue, loop: dependencies.loop,
            opener: dependencies.opener, track: dependencies.recorder.track(for: meter.id),
            recording: dependencies.recordings?.track(for: meter.id),
            counting: dependencies.counts?.track(for: meter.id), alerts: dependencies.alerts?.track(for: meter.id),
            log: log, computed: dependencies.computed, rng: dependencies.makeRNG(),
            logger: logger, gate: dependencies.gate, changes: dependencies.settings.changes,
            tell: { [discoveries] in discoveries.continuation.yield($0) })
        if case .computed(let name)? = meter.link {
            // Error to show until the configuration's formula of this name is declared.
            session.assumeIsolated { $0.states.lastError = ComputedMeters.noFormula(name) }
        }
        meters.begin(session)
        let text = "\(meter.id)"
        sessions.insert(session, at: sessions.firstIndex { text < "\($0.id)" } ?? sessions.endIndex)
        return session
    }

    /// Ends a meter's session and detaches it from the gate. The meter remains known, and its pending readings are
    /// still stored.
    @discardableResult
    func drop(_ id: MeterID) -> DeviceSession? {
        guard let session = meters.session(of: id) else { return nil }
        sessions.removeAll { $0 === session }
        session.assumeIsolated { $0.leave() }
        meters.end(id)
        return session
    }

    func open(_ meter: KnownMeter) async throws(GatewayError) {
        _ = try await GatewayError.doing("reading the settings of \(meter.id)") { try await makeSession(for: meter) }
    }

    private func declaredPort(of meter: KnownMeter) -> DeclaredPort? {
        guard let link = meter.link, link.node != nil, link.transport != .computed, let model = meter.model else {
            return nil
        }
        let port: LinkAddress = if case .bulk(let path) = link { .serial(path: path) } else { link }
        return DeclaredPort(port, model: model, id: meter.id)
    }

    /// Saves these properties of the meter. Returns the store's error, if any; the change is then lost at a restart.
    func remember(
        _ id: MeterID, model: ModelName?, isWanted: Bool, link: LinkPreference? = nil
    ) async -> GatewayError? {
        var meter = known[id] ?? KnownMeter(id: id)
        meter.model = model ?? meter.model
        meter.isWanted = isWanted
        if let link { meter.preferred = link.transport }
        do {
            try await save(meter)
            return nil
        } catch {
            return GatewayError(
                error.code, "it is done, but a restart will undo it: \(error.message)", next: error.next)
        }
    }

    private func save(_ meter: KnownMeter) async throws(GatewayError) {
        known[meter.id] = meter
        var written: KnownMeter?
        // Two saves may reach the store in either order, so repeat until the latest version was written last.
        while let latest = known[meter.id], latest != written {
            try await GatewayError.doing("saving \(meter.id)") { try await dependencies.repository.save(latest) }
            written = latest
        }
    }
}
