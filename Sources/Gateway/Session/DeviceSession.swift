package import Domain
import GatewayAPI
package import Logging
package import MeterCodec

/// Controls one meter: decides when to open and close a link to it. The session's parts do all other work and never
/// call the session.
///
/// Sessions share only the loop, so that one meter's failure affects no other.
package actor DeviceSession {
    package nonisolated let id: MeterID
    /// Readings for viewers; of a fast meter, one summary of each answer.
    package nonisolated let readings = Feed<TimedReading>()
    /// Every single reading, also of fast meters.
    nonisolated let samples = Feed<TimedReading>()
    package nonisolated let traffic = Feed<TrafficRecord>()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated let catalogue: MeterCatalogue
    nonisolated let loop: any SessionLoop
    nonisolated let track: SampleBuffer
    /// Kind of link on which the meter was last seen before meterd restarted.
    let lastTransport: LinkAddress.Transport?
    private var rng: any RandomNumberGenerator & Sendable

    let states: MeterStates
    let line: MeterLine
    let talk: MeterTalk
    let claim: LinkClaim
    let search: MeterSearch
    let waits: SessionWaits
    private(set) var deviceName: String? { didSet { states.mark() } }
    private var alarm: Alarm
    var isShutDown: Bool { waits.areOver }

    package init(
        id: MeterID, model: ModelName?, isWanted: Bool, preferred: LinkAddress.Transport? = nil,
        lastTransport: LinkAddress.Transport? = nil, settings: MeterSettings, settingsNumber: UInt64 = 0,
        catalogue: MeterCatalogue = .standard, loop: any SessionLoop, opener: any ChannelOpener, track: SampleBuffer,
        recording: RecordingTrack? = nil, counting: EnergyTrack? = nil, alerts: AlertTrack? = nil,
        log: LogKeeper? = nil, computed: ComputedMeters? = nil,
        rng: any RandomNumberGenerator & Sendable, logger: Logger, gate: (any LinkGate)? = nil,
        changes: ChangeMarks = ChangeMarks(), tell: @escaping @Sendable (MeterDiscovery) -> Void = { _ in }
    ) {
        self.id = id
        self.lastTransport = lastTransport
        self.catalogue = catalogue
        self.loop = loop
        self.track = track
        self.rng = rng
        // No other host can use a computed meter, so it needs no permission.
        let gate = lastTransport == .computed ? nil : gate
        var logger = logger
        logger[metadataKey: "meter.id"] = "\(id)"
        alarm = Alarm(on: loop)
        claim = LinkClaim(on: id, gate: gate)
        waits = SessionWaits(on: loop, claim: claim)
        states = MeterStates(
            of: id, isWanted: isWanted, asksFirst: gate != nil, on: loop, waits: waits, alerts: alerts, log: log,
            computed: computed, changes: changes, logger: logger)
        recording?.apply(settings.recordingRules(staleAfter: states.machine.timing.staleAfter))
        search = MeterSearch(states, claim: claim, waits: waits)
        line = MeterLine(
            states, claim: claim, to: model, preferred: preferred, catalogue: catalogue, opener: opener,
            traffic: traffic)
        talk = MeterTalk(
            over: line, states, commands: MeterCommands(over: line, states, counting: counting),
            logs: LogReader(over: line, states, catalogue),
            readings: SessionReadings(
                shown: readings, samples: samples, track: track, recording: recording,
                counting: counting, alerts: alerts, heard: computed.map { computed in { computed.heard($0, of: id) } }),
            settings: settings, settingsNumber: settingsNumber, tell: tell)
    }

    // MARK: Events from outside

    package func appeared(_ sighting: Sighting) {
        guard !isShutDown else { return }
        attachToGate()
        search.found()
        deviceName = sighting.name.map { $0.visible } ?? deviceName
        line.links.appeared(sighting.link, rssi: sighting.rssi)
        if let seen = sighting.model, seen != line.model {
            // The open link still uses the old model's driver.
            if line.isOpen { replaceLink("another model") }
            talk.change(to: seen)
        }
        takePreferredLink()
        talk.adoptSettings()
        states.apply(because: "device present at \(sighting.link.display)") { $0.appeared(at: loop.now) }
        wake()
    }

    package func heard(over link: LinkAddress, rssi: Int?) {
        if line.links.rssi(of: link) != rssi { line.links.heard(link, rssi: rssi) }
    }

    /// Ends the readings of a computed meter, because none of the meters from which it is computed has data.
    func partsAreGone(_ sighting: Sighting, because lack: String) {
        if deviceName != sighting.name { deviceName = sighting.name }
        vanished(from: sighting.link, because: lack)
        if states.lastError != lack { states.lastError = lack }
    }

    package func vanished(from goneLink: LinkAddress, because cause: String = "device gone") {
        guard line.links.vanished(goneLink), goneLink == line.link else { return }
        guard line.links.isEmpty else {
            if line.isOpen { channelClosed(ChannelFailure(.lost, "\(goneLink.display) is gone.")) }
            return talk.chooseLink()
        }
        let wasAsking = states.machine.awaitsPermission
        endLink(.deviceGone, because: cause) { $0.vanished() == .closeChannel }
        if wasAsking { claim.cancel() }
        arm()
    }

    package func connect(_ options: ConnectOptions = ConnectOptions()) {
        guard !isShutDown else { return }
        attachToGate()
        talk.adoptSettings()
        adopt(options)
        states.apply(because: "connect requested") { $0.connectWanted(at: loop.now) }
        wake()
    }

    package func disconnect() {
        states.lastError = nil
        letGo("disconnect requested")
        waits.endAll(with: .disconnected)
    }

    package func adopt(_ stored: StoredSettings) { if talk.adopt(stored) { wake() } }

    package func shutdown() {
        letGo("shutting down")
        waits.shutDown()
        arm()
        readings.finish()
        samples.finish()
        traffic.finish()
    }

    func leave() {
        shutdown()
        claim.detach()
    }

    // MARK: Events on the loop

    private func channelEvent(_ event: ChannelEvent, number: Int) {
        guard line.isCurrent(number) else { return }
        switch event {
        case .opened: channelOpened()
        case .received(let bytes):
            if talk.received(bytes) { wake() }
            talk.takeTurns()
            arm()
        case .closed(let failure): channelClosed(failure)
        }
    }

    func wake() {
        line.endSupply()
        stopAtHardStop()
        search.endInVain()
        switch states.apply(because: nil, { $0.woke(at: loop.now, random: rng.next()) }) {
        case .openChannel: openChannel()
        case .requestPermission: claim.ask(over: line.leaseTransport)
        case .closeChannel(let overdue):
            states.lastError = states.timeCause(from: overdue == .connecting ? .connecting : .communicating)
            if overdue == .silent { line.wasSilent() }
            // The connection machine has recorded the timeout, so only close the channel.
            endLink(.overdue, because: nil) { _ in true }
        case .none: break
        }
        talk.takeTurns()
        arm()
    }

    /// Sets the alarm. An early one is harmless, so the alarm is never moved to a later time.
    func arm() {
        // No array, because allocating it would cost too much: this runs twice for each answer of a fast meter.
        let due = MonotonicTime.earliest(
            .earliest(states.machine.nextWake, talk.nextTurn),
            .earliest(.earliest(claim.hardStop, line.supplyEnd), search.endsAt))
        let stale =
            isShutDown
            ? nil : talk.readings.latest.nextStale(after: loop.now, staleAfter: states.machine.timing.staleAfter)
        alarm.set(to: .earliest(due, stale), alarmRang)
    }

    private lazy var alarmRang: @Sendable () -> Void = { [weak self] in
        self?.assumeIsolated { session in
            session.alarm.rang()
            session.wake()
        }
    }

    private(set) lazy var ring: @Sendable (SessionTimer) -> Void = { [weak self] timer in
        self?.assumeIsolated { $0.rang(timer) }
    }

    private func rang(_ timer: SessionTimer) {
        switch timer {
        case .opening(let number): if line.isCurrent(number), talk.goOnOpening() { wake() }
        case .logs:
            talk.logs.paused()
            talk.takeTurns()
            arm()
        case .commandDeadline: talk.commands.dropOverdue()
        case .readBack(let number): talk.commands.readBackIsOver(number)
        case .wait(let number): waits.end(number, with: .timedOut)
        }
    }

    // MARK: A link from its beginning to its end

    private func openChannel() {
        talk.chooseLink()
        if line.link?.isRadio ?? false { talk.adoptDriver() }
        let problem = line.open(ring: ring) { [weak self] event, number in
            self?.assumeIsolated { $0.channelEvent(event, number: number) }
        }
        guard let problem else { return }
        states.lastError = problem
        endLink(.impossible, because: "no model") {
            $0.channelClosed(at: loop.now, random: rng.next())
            return false
        }
    }

    private func channelOpened() {
        switch states.apply(because: "link up", { $0.channelOpened(at: loop.now) }) {
        case .setUpLine: if talk.linkCameUp() { wake() }
        case .closeChannel: talk.close(hasFarewell: false)
        }
        arm()
    }

    private func channelClosed(_ failure: ChannelFailure) {
        states.lastError = failure.message
        line.keepServices()
        endLink(.closed, because: failure.message) {
            $0.channelClosed(at: loop.now, random: rng.next())
            return true
        }
        if failure.code == .permission { waits.endAll(with: .forbidden(failure)) }
        arm()
    }

    private func letGo(_ cause: String) {
        search.drop()
        endLink(.letGo, because: cause) { $0.disconnectWanted() == .closeChannel }
        // Also releases a lease kept for a reconnect.
        claim.cancel()
        arm()
    }

    private func takePreferredLink() {
        if let kind = line.betterKind { replaceLink("\(kind.rawValue) requested") }
        talk.chooseLink()
    }

    private func replaceLink(_ cause: String) {
        endLink(.replaced, because: cause) {
            $0.channelClosed(at: loop.now, random: rng.next())
            return true
        }
    }

    /// Ends the link. Gives the permission back last, because the gate may call this session before `giveBack` returns.
    /// The caller then calls `arm`.
    ///
    /// - Parameter event: reports the end to the connection machine; returns whether the channel must be closed.
    private func endLink(
        _ ending: LinkEnding, because cause: String?, _ event: (inout ConnectionMachine) -> Bool
    ) {
        let wasUp = line.isUp
        if ending.isLoss, wasUp { talk.linkWasLost() }
        if ending.isFault { line.links.failed(line.link) }
        if states.apply(because: cause, event) { talk.close(hasFarewell: ending.hasFarewell) }
        claim.giveBack(ending.end ?? (wasUp ? .linkLost : .attemptFailed))
    }

    // MARK: Permission

    /// Changes or removes the gate. Closes a link that the old gate permitted; requests the new gate's permission for
    /// any other link.
    package func use(_ newGate: (any LinkGate)?) {
        guard !isShutDown, !isComputed else { return }
        if claim.hasGate {
            if claim.permission != nil {
                endLink(.letGo, because: "another cloud") { $0.permissionLost(at: loop.now) == .closeChannel }
            }
            search.end(with: .unanswered)
            claim.detach()
        }
        claim.use(newGate)
        states.asksFirst(claim.asksFirst)
        attachToGate()
        if states.machine.awaitsPermission {
            if claim.asksFirst {
                claim.ask(over: line.leaseTransport)
            } else if states.apply(because: "no permission needed", { $0.permitted(at: loop.now) }) == .openChannel {
                openChannel()
            }
        } else if line.isOpen, claim.asksFirst {
            claim.askToStay(over: line.leaseTransport)
        }
        wake()
    }

    private func attachToGate() {
        claim.attach { [weak self] verdict in self?.assumeIsolated { $0.handle(verdict) } }
    }

    private func adopt(_ options: ConnectOptions) {
        if let preference = options.link { line.links.preferred = preference.transport }
        line.links.beginAnew()
        takePreferredLink()
        claim.adopt(options, isPresent: states.machine.isPresent)
        states.asksFirst(claim.asksFirst)
        // Ask to keep the open link: it may have no permission, or another host may hold the lease.
        if line.isOpen, options.isTakeover || claim.permission == nil, claim.asksFirst {
            claim.askToStay(over: line.leaseTransport, options.intent)
        }
    }

    private func handle(_ verdict: LinkVerdict) {
        switch verdict {
        case .permitted(let permission): permitted(permission)
        case .withdrawn(let cause): withdrawn(cause)
        case .refused, .barred:
            guard states.machine.awaitsPermission || search.isOn else { return }
            if case .refused(let refusal) = verdict { return refused(refusal) }
            claim.barred()
            states.lastError = "this host may only look, and its zone lets nobody use a meter without a lease"
            waits.endAll(with: .barred)
        }
    }

    private func refused(_ refusal: LinkRefusal) {
        states.lastError = refusal.words
        guard refusal.isElsewhere else { return }
        claim.refused(refusal)
        if hasTwin { states.lastError = claim.twin(at: refusal.holder, states.logger) }
        if let refusal = claim.lastWord { waits.endAll(with: .elsewhere(refusal)) }
    }

    private func permitted(_ permission: LinkPermission) {
        claim.permitted(permission)
        talk.leased(permission)
        if search.isOn {
            search.granted(permission)
            return arm()
        }
        if !line.isOpen {
            if states.apply(because: "permitted", { $0.permitted(at: loop.now) }) == .openChannel {
                waits.endAll(with: .permitted, of: .permission)
                openChannel()
            } else {
                // The session gave up the attempt before the permission arrived, so return it.
                claim.giveBack(.attemptFailed)
            }
        }
        talk.tellSettings()
        arm()
    }

    private func withdrawn(_ cause: String) {
        states.lastError = cause
        let wasPermitted = claim.permission != nil
        endLink(.letGo, because: cause) { $0.permissionLost(at: loop.now) == .closeChannel }
        if !wasPermitted { claim.giveWay() }
        search.end(with: .elsewhere(LinkRefusal(reason: .held, holder: claim.lease?.holder, remaining: nil)))
        wake()
    }

    /// Cuts the link when its lease is over, even without a message from the lease keeper.
    private func stopAtHardStop() {
        guard claim.isPastHardStop(at: loop.now) else { return }
        states.lastError = "its lease could not be renewed in time, and another host may use it soon"
        endLink(.leaseOver, because: "lease over") {
            _ = $0.permissionLost(at: loop.now)
            return true
        }
        search.end(with: .unanswered)
    }
}
