package import Domain
import GatewayAPI
package import Logging
package import MeterCodec

/// Runs one meter: its states, its requests, its channel, its readings.
///
/// An actor on the loop. Everything that happens to it is one of the methods below; each calls one machine method and
/// performs what it returns. Channel and timer events arrive on the loop already, so no thread changes. Sessions share
/// nothing but the loop, so one meter's failure stays its own.
package actor DeviceSession {
    package nonisolated let id: MeterID
    /// Readings as they come; of a meter that samples too fast for that, what each answer comes to.
    package nonisolated let readings = Feed<TimedReading>()
    /// The same, and each sample of every meter.
    private nonisolated let samples = Feed<TimedReading>()
    /// Raw bytes as they cross the link.
    package nonisolated let traffic = Feed<TrafficRecord>()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated let catalogue: MeterCatalogue
    nonisolated let loop: any SessionLoop
    private nonisolated let opener: any ChannelOpener
    nonisolated let track: SampleBuffer
    /// What is counted of the meters, if this host does that.
    private let counts: EnergyCounts?
    /// The meter's rules, if this host has any.
    private let alerts: AlertTrack?
    /// The meters' log, if this host keeps one.
    private nonisolated let log: LogKeeper?
    /// Reports what is found out about the meter.
    private nonisolated let tell: @Sendable (MeterDiscovery) -> Void
    private var logger: Logger
    private var rng: any RandomNumberGenerator & Sendable

    private(set) var machine: ConnectionMachine
    private(set) var model: ModelName? {
        didSet { hearsPD = Self.hearsPD(model, catalogue) }
    }
    /// Whether the meter's model hears USB Power Delivery. Looked up once, as every frame asks.
    private(set) var hearsPD: Bool
    /// What the meter said about itself over the present link, or over the last one.
    private(set) var device: DeviceInfo?
    private(set) var deviceName: String?
    private(set) var driver: (any MeterDriver)?
    private(set) var settings: MeterSettings
    /// Of the reading that they are from (`StoredSettings.number`).
    private var settingsNumber: UInt64

    /// The links that lead to the meter now.
    private(set) var links = LinkChoice()
    /// The link in use or next to be tried; the last one used if there is none.
    private(set) var link: LinkAddress?
    /// The kind of link on which the meter was last seen before a restart.
    let lastTransport: LinkAddress.Transport?
    private var line = MeterLine()
    private var commands = CommandQueue()
    private var readBacks = ReadBacks()
    /// Whether the meter is written to by the second way to its line, since it answered nothing by the first.
    private var usesOtherOutput = false
    /// The download under way, if any. The exchange rests meanwhile.
    private var download: LogDownload?
    private let claim: LinkClaim
    /// The search under way, if any: the lease is asked for, or kept, while the meter is not heard here.
    private(set) var search: Search?
    /// When the last unsuccessful search ended.
    private var notHeardAt: MonotonicTime?

    /// What its frames come to.
    private(set) var intake: SessionReadings
    private(set) var stateSince: WallTime
    private(set) var lastError: String?
    /// The holder of a meter with this one's serial number that the log has named last.
    private var lastTwinHolder: String?
    private(set) var past = SessionPast()
    private var waits = SessionWaits()
    private var alarm: Alarm
    private var isShutDown = false

    package init(
        id: MeterID, model: ModelName?, isWanted: Bool, preferred: LinkAddress.Transport? = nil,
        lastTransport: LinkAddress.Transport? = nil, settings: MeterSettings, settingsNumber: UInt64 = 0,
        catalogue: MeterCatalogue = .standard, loop: any SessionLoop, opener: any ChannelOpener, track: SampleBuffer,
        recording: RecordingTrack? = nil, counts: EnergyCounts? = nil, alerts: AlertTrack? = nil, log: LogKeeper? = nil,
        rng: any RandomNumberGenerator & Sendable, logger: Logger, gate: (any LinkGate)? = nil,
        tell: @escaping @Sendable (MeterDiscovery) -> Void = { _ in }
    ) {
        self.tell = tell
        self.id = id
        self.model = model
        hearsPD = Self.hearsPD(model, catalogue)
        self.lastTransport = lastTransport
        self.settings = settings
        self.settingsNumber = settingsNumber
        self.catalogue = catalogue
        self.loop = loop
        self.opener = opener
        self.track = track
        self.counts = counts
        self.alerts = alerts
        intake = SessionReadings(
            shown: readings, samples: samples, track: track, recording: recording, counting: counts?.track(for: id),
            alerts: alerts)
        self.log = log
        self.rng = rng
        self.logger = logger
        self.logger[metadataKey: "meter.id"] = "\(id)"
        claim = LinkClaim(on: id, gate: gate)
        alarm = Alarm(on: loop)
        machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: isWanted, asksFirst: gate != nil)
        stateSince = loop.wallNow
        driver = model.flatMap { catalogue.driver(for: $0) }
        links.preferred = preferred
        recording?.apply(settings.recordingRules(staleAfter: machine.timing.staleAfter))
        alerts?.expectReadings(within: machine.timing.staleAfter)
        alerts?.stateChanged(to: machine.state, at: loop.now, loop.wallNow)
    }

    private static func hearsPD(_ model: ModelName?, _ catalogue: MeterCatalogue) -> Bool {
        model.map { catalogue.modelsHearingPD.contains($0) } ?? false
    }

    // MARK: Events from outside

    /// The meter appeared on a link.
    package func appeared(_ sighting: Sighting) {
        guard !isShutDown else { return }
        attachToGate()
        found()
        deviceName = sighting.name.map { $0.visible } ?? deviceName
        links.appeared(sighting.link, rssi: sighting.rssi)
        if let seen = sighting.model, seen != model { change(to: seen) }
        takePreferredLink()
        adoptSettings()
        apply(because: "device present at \(sighting.link.display)") { machine.appeared(at: loop.now) }
        wake()
    }

    /// The meter, already known to be there, was heard again.
    package func heard(over link: LinkAddress, rssi: Int?) {
        links.heard(link, rssi: rssi)
    }

    /// The meter is gone from a link. If another link leads to it, that one is next.
    package func vanished(from goneLink: LinkAddress) {
        guard links.vanished(goneLink), goneLink == link else { return }
        guard links.isEmpty else {
            if line.channel != nil { channelClosed(ChannelFailure(.lost, "\(goneLink.display) is gone.")) }
            return chooseLink()
        }
        let wasAsking = machine.awaitsPermission
        endLink(.deviceGone, because: "device gone") { machine.vanished() == .closeChannel }
        if wasAsking { claim.cancel() }
        arm()
    }

    package func connect(_ options: ConnectOptions = ConnectOptions()) {
        guard !isShutDown else { return }
        attachToGate()
        adoptSettings()
        adopt(options)
        apply(because: "connect asked for") { machine.connectWanted(at: loop.now) }
        wake()
    }

    package func disconnect() {
        lastError = nil
        letGo("disconnect asked for")
        waits.endAll(with: .disconnected)
    }

    /// Settings changed, here or on another host. Of two readings under way the older one may come back last, and then
    /// says nothing new.
    func adopt(_ stored: StoredSettings) {
        guard stored.number > settingsNumber else { return }
        settingsNumber = stored.number
        apply(stored.settings)
    }

    package func apply(_ settings: MeterSettings) {
        self.settings = settings
        adoptSettings()
        wake()
    }

    /// Leaves the meter in a clean state and ends every stream. Nothing happens to the session afterwards.
    package func shutdown() {
        isShutDown = true
        letGo("shutting down")
        waits.endAll(with: .shuttingDown)
        readings.finish()
        samples.finish()
        traffic.finish()
    }

    /// The meter no longer belongs to this host: as `shutdown`, and the gate forgets it too.
    func leave() {
        shutdown()
        claim.detach()
    }

    // MARK: Events on the loop

    private func channelEvent(_ event: ChannelEvent, number: Int) {
        guard line.isCurrent(number) else { return }
        switch event {
        case .opened: channelOpened()
        case .received(let bytes): received(bytes)
        case .closed(let failure): channelClosed(failure)
        }
    }

    /// Time has passed, or something may be due.
    private func wake() {
        stopAtHardStop()
        endSearchInVain()
        let action = apply(because: nil) { machine.woke(at: loop.now, random: rng.next()) }
        switch action {
        case .openChannel: openChannel()
        case .requestPermission: claim.ask(over: leaseTransport)
        case .closeChannel(let overdue):
            lastError = timeCause(from: overdue == .connecting ? .connecting : .communicating)
            if overdue == .silent { line.wasSilent() }
            // The machine has already recorded the event.
            endLink(.overdue, because: nil) { true }
        case .none: break
        }
        takeTurns()
        arm()
    }

    /// Switches to another model's driver. An open link was set up for the old one, so it is made anew.
    private func change(to seen: ModelName) {
        if line.channel != nil { replaceLink("another model") }
        model = seen
        device = nil
        intake.modelChanged(isIdentified: false)
        adoptDriver()
    }

    private func letGo(_ cause: String) {
        search = nil
        endLink(.letGo, because: cause) { machine.disconnectWanted() == .closeChannel }
        // This also gives up a lease kept for a reconnect.
        claim.cancel()
        arm()
    }

    private func channelOpened() {
        switch apply(because: "link up", { machine.channelOpened(at: loop.now) }) {
        case .setUpLine:
            line.cameUp()
            past.forgetTraffic()
            past.gatt = line.channel?.gatt ?? past.gatt
            intake.linkCameUp()
            claim.linkUp()
            device = nil
            narrowQuestions()
            if usesOtherOutput { usesOtherOutput = line.channel?.switchOutput() ?? false }
            line.beginOpening(driver?.opening() ?? [])
            nextOpeningStep(number: line.number)
        case .closeChannel:
            closeLine(hasFarewell: false)
        }
        arm()
    }

    private func channelClosed(_ failure: ChannelFailure) {
        lastError = failure.message
        past.gatt = line.channel?.gatt ?? past.gatt
        endLink(.closed, because: failure.message) {
            machine.channelClosed(at: loop.now, random: rng.next())
            return true
        }
        if failure.code == .permission { waits.endAll(with: .forbidden(failure)) }
        arm()
    }

    // MARK: The end of a link

    /// Ends the link, or the attempt at one: the only way a session does so, whatever the cause.
    ///
    /// 1. What the link was worth is counted, while that is still known.
    /// 2. The machine is told. It knows whether there is a channel to close.
    /// 3. The channel is closed, and all that depended on it ends: commands, a download, the exchange.
    /// 4. The permission is given back. This comes last because the gate may answer before the call returns: by then
    ///    the session is ready for another attempt.
    ///
    /// What only one cause needs is done by the caller, followed by `arm`.
    ///
    /// - Parameter event: tells the machine, and returns whether the channel must be closed.
    private func endLink(_ ending: LinkEnding, because cause: String?, _ event: () -> Bool) {
        let wasUp = line.isUp
        if ending.isLoss, wasUp { intake.linkWasLost() }
        if ending.isFault, let link { links.failed(link) }
        if apply(because: cause, event) { closeLine(hasFarewell: ending.hasFarewell) }
        claim.giveBack(ending.end ?? (wasUp ? .linkLost : .attemptFailed))
    }

    /// Another link is to replace the one in use.
    private func replaceLink(_ cause: String) {
        endLink(.replaced, because: cause) {
            machine.channelClosed(at: loop.now, random: rng.next())
            return true
        }
    }

    private func closeLine(hasFarewell: Bool) {
        var pause: Duration?
        if hasFarewell, line.isUp, let channel = line.channel, var driver {
            let farewell = driver.closing()
            for outgoing in farewell { send(outgoing.bytes, over: channel) }
            self.driver = driver
            pause = farewell.map(\.pause).reduce(.zero, +)
        }
        let wasUp = line.isUp
        line.close(after: pause, on: loop)
        intake.linkEnded(wasUp: wasUp)
        commands.dropAll()
        readBacks.linkLost()
        _ = driver?.discardPartial()
        follow(MeterSampling())
        endDownload(
            .failure(GatewayError(.notConnected, "the link was lost before the logs were read", next: "try again")))
    }

    /// Applies an event to the machine, and logs a change of state with its cause. Without one, the cause is time
    /// passing.
    @discardableResult
    private func apply<Action>(because cause: String?, _ event: () -> Action) -> Action {
        let before = machine.state
        let action = event()
        if machine.state != before { stateChanged(from: before, because: cause ?? timeCause(from: before)) }
        return action
    }

    /// Why a state ended when only time passed.
    private func timeCause(from before: ConnectionState) -> String {
        switch before {
        case .offline: "the device is still there"
        case .notConnected: "an attempt is due"
        case .connecting: "the link did not open within \(words(machine.timing.connectTimeout))"
        case .connected, .ready, .communicating: "no valid answer for \(words(machine.timing.silenceTimeout))"
        case .dataAvailable: "no valid frame for \(words(machine.timing.staleAfter))"
        }
    }

    private func words(_ time: Duration) -> String {
        let milliseconds = time.milliseconds
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }

    private func stateChanged(from before: ConnectionState, because cause: String) {
        stateSince = loop.wallNow
        past.record(from: before, to: machine.state, cause: cause, at: loop.now)
        log?.stateChanged(of: id, from: before, to: machine.state, because: cause, isWanted: machine.isWanted)
        logger.info(
            "meter state changed",
            metadata: ["from": "\(before.rawValue)", "to": "\(machine.state.rawValue)", "cause": "\(cause)"])
        alerts?.stateChanged(to: machine.state, at: loop.now, stateSince)
        if machine.state == .dataAvailable {
            lastError = nil
            if let link { links.broughtData(link) }
            waits.endAll(with: .data)
        }
    }

    /// Sets the alarm to the earliest moment at which anything is due. An alarm that rings too early does no harm, so
    /// it is not moved when that moment becomes later.
    private func arm() {
        let exchangeWake = download == nil ? line.exchange?.nextWake : nil
        // Without a list of them: each answer of a fast meter comes here twice.
        let due = MonotonicTime.earliest(
            .earliest(machine.nextWake, exchangeWake), .earliest(claim.hardStop, search?.endsAt))
        alarm.set(to: due, ring)
    }

    /// What the alarm calls, made once.
    private lazy var ring: @Sendable () -> Void = { [weak self] in
        self?.assumeIsolated { session in
            session.alarm.rang()
            session.wake()
        }
    }

    // MARK: The channel: opening it, setting the meter up

    /// Takes the next link, unless one is in use.
    private func chooseLink() {
        guard line.channel == nil, let next = links.next, next != link || driver == nil else { return }
        let isOtherKind = next.transport != link?.transport
        link = next
        if isOtherKind || driver == nil { adoptDriver() }
    }

    /// The driver for the next link: the model's, or one that finds out the model.
    private func adoptDriver() {
        if let link, link.isRadio, model == nil || doubtsModel {
            driver = IdentifyingDriver(over: link.transport, suspecting: model, in: catalogue)
        } else if let model {
            driver =
                if let link { catalogue.driver(for: model, over: link.transport) } else {
                    catalogue.driver(for: model)
                }
        }
        adoptSettings()
    }

    /// An open link may rule out families, and so allow questions that those would take for orders.
    private func narrowQuestions() {
        guard let asking = driver as? IdentifyingDriver, let module = line.channel?.radioModule else { return }
        driver = IdentifyingDriver(
            among: catalogue.families(behind: module), guess: asking.profile.model, in: catalogue)
    }

    /// Whether to doubt the model. A radio's name may be wrong: if a link used as the model it suggests gave no good
    /// frame, the next link asks the meter.
    private var doubtsModel: Bool { !line.silentLinks.isMultiple(of: 2) }

    /// The meter's model was found out. The link stays; only the driver changes.
    private func identified(as found: ModelName) {
        if found != model {
            logger.notice("the meter was identified", metadata: ["model": "\(found.displayName)"])
            tell(.model(found, of: id))
        }
        model = found
        device = nil
        intake.modelChanged(isIdentified: true)
        line.wasIdentified()
        adoptDriver()
        line.beginOpening(driver?.opening() ?? [])
        nextOpeningStep(number: line.number)
    }

    private func openChannel() {
        chooseLink()
        if link?.isRadio ?? false { adoptDriver() }
        guard let link, let driver else {
            lastError = noDriverCause
            endLink(.impossible, because: "no model") {
                machine.channelClosed(at: loop.now, random: rng.next())
                return false
            }
            return
        }
        line.open { number in
            opener.open(link, as: LineSettings(of: driver.profile)) { [weak self] event in
                self?.assumeIsolated { $0.channelEvent(event, number: number) }
            }
        }
    }

    private var noDriverCause: String {
        guard let model, let link else {
            return "nothing says how to talk to it: name its port and model, meterctl connect /dev/… --model MODEL"
        }
        return "a \(model.displayName) cannot be read over \(link.transport.rawValue)"
    }

    /// Sends the rest of the opening, one step at a time, then starts asking.
    private func nextOpeningStep(number: Int) {
        guard number == line.number, let channel = line.channel else { return }
        while let step = line.nextStep() {
            send(step.bytes, over: channel)
            guard step.pause > .zero else { continue }
            line.pauseOpening(
                with: loop.schedule(at: loop.now + step.pause) { [weak self] in
                    self?.assumeIsolated { $0.nextOpeningStep(number: number) }
                })
            return
        }
        startExchange()
    }

    private func startExchange() {
        let now = loop.now
        // The machine ignores this if another driver takes over a link that was already set up.
        _ = apply(because: "line set up") { machine.lineReady(at: now) }
        guard line.isUp, let rhythm = times?.rhythm else { return }
        line.exchange = ExchangeMachine(rhythm: rhythm, at: now)
        intake.exchangeBegan()
        if !rhythm.requestsAreAnswered { markCommunicating(at: now) }
        tellSettings()
        wake()
    }

    private func send(_ bytes: [UInt8], over channel: any ByteChannel) {
        // Checked right before each send: no exchange begins after the hard stop, however late a timer is.
        guard !bytes.isEmpty, !claim.isPastHardStop(at: loop.now) else { return }
        crossed(TrafficRecord(time: loop.now, direction: .outward, bytes: bytes))
        channel.send(bytes)
    }

    /// Keeps what crossed the link until it brings a reading, for a maintainer.
    private func crossed(_ record: TrafficRecord) {
        if traffic.hasListeners { traffic.yield(record) }
        if !line.hasReading { past.record(record) }
    }

    /// Sets the times that follow from the model and from a person's settings.
    private func adoptSettings() {
        guard let times else { return }
        line.exchange?.rhythmChanged(times.rhythm, at: loop.now)
        let timing = times.timing(from: machine.timing)
        apply(because: "other times were set") { machine.timingChanged(timing, at: loop.now) }
        driver?.temperatureUnit = settings.temperatureUnit
        driver?.isFiltering = settings.filters
        if let profile = driver?.profile { driver?.wantedRate = settings.rate(for: profile) }
        intake.adopt(settings.recordingRules(staleAfter: timing.staleAfter))
        intake.adopt(driver?.profile)
        alerts?.expectReadings(within: timing.staleAfter)
        tellSettings()
    }

    private var times: MeterTimes? {
        driver.map {
            MeterTimes(
                $0.profile, settings, sampling: $0.sampling.requestInterval, isRadio: link?.isRadio ?? false)
        }
    }

    /// Tries the other way to the meter's line where what was sent got no answer. A new link begins with the one used last.
    private func followOutput() {
        guard driver?.doubtsOutput == true, let channel = line.channel else { return }
        let isSwitched = channel.switchOutput()
        if isSwitched { usesOtherOutput.toggle() }
        send(driver?.outputSwitched(isSwitched) ?? [], over: channel)
    }

    /// Puts in force how the driver says that the meter samples now.
    private func followSampling() { follow(driver?.sampling ?? MeterSampling()) }

    private func follow(_ now: MeterSampling) {
        guard intake.follow(now, logger), let times else { return }
        line.exchange?.rhythmChanged(times.rhythm, at: loop.now)
    }

    /// How often readings should come.
    var expectedInterval: Duration? { times?.expectedInterval }

    // MARK: Requests, commands, answers

    /// Whether this host talks to the meter.
    var isLinked: Bool { line.exchange != nil }

    /// Has the meter do something. Returns when the command has gone out, as most meters do not answer; where the meter can
    /// be asked, when it says that it took it.
    ///
    /// - Parameter deadline: when it is too late for it.
    package func perform(_ command: MeterCommand, by deadline: MonotonicTime? = nil) async throws(GatewayError) {
        guard command.kind != .resetEnergy else { return try await resetEnergy(command) }
        guard driver?.profile.commands.first(where: { $0.kind == command.kind })?.isReadBack == true else {
            return try await send(command, by: deadline)
        }
        var found: MeterCommand?
        for _ in 0..<ReadBacks.triesMax {
            let number = readBacks.expect(command)
            defer { readBacks.forget(number) }
            try await send(command, by: deadline)
            switch await readBack(number) {
            case .taken: return
            case .contradicted(let other): found = other
            case .unanswered: break
            case .linkLost:
                throw GatewayError(
                    .notConnected, "the link was lost after \(command) was sent, so nobody knows whether it was taken",
                    next: "meterctl status \(id) shows what it says when it is back")
            }
        }
        let outcome = found.map { "it says \($0)" } ?? "it does not say what it is set to"
        throw GatewayError(
            .refused, "\(command) was sent to \(id) \(ReadBacks.triesMax) times, and \(outcome)",
            next: "look at the meter itself")
    }

    /// What the meter says of a command that was sent.
    private func readBack(_ number: Int) async -> ReadBacks.Verdict {
        let timer = loop.schedule(at: loop.now + ReadBacks.patience) { [weak self] in
            self?.assumeIsolated { $0.readBacks.end(number, with: .unanswered) }
        }
        defer { loop.cancel(timer) }
        return await withCheckedContinuation { readBacks.wait(number, $0) }
    }

    /// Sends a command as soon as the line is free, and returns then.
    private func send(_ command: MeterCommand, by deadline: MonotonicTime?) async throws(GatewayError) {
        guard line.exchange != nil, var driver else {
            throw GatewayError(
                .notConnected, "\(id) is \(machine.state.rawValue), so it takes no command",
                next: "meterctl connect \(id)")
        }
        guard !isInJeopardy else { throw .jeopardy(id, "\(command) is not sent") }
        let bytes: [UInt8]
        do throws(CodecError) {
            bytes = try driver.encode(command)
        } catch {
            throw GatewayError(.badRequest, "\(error)", next: driver.profile.commandHelp)
        }
        self.driver = driver
        guard !commands.isFull else {
            throw GatewayError(
                .refused, "\(commands.count) commands wait for \(id) already", next: "wait until they are sent")
        }
        let timer = deadline.map { deadline in
            loop.schedule(at: deadline) { [weak self] in
                self?.assumeIsolated { $0.commands.dropOverdue(at: $0.loop.now) }
            }
        }
        let wasSent = await withCheckedContinuation { continuation in
            commands.append(
                CommandQueue.Entry(command: command, bytes: bytes, deadline: deadline, sent: continuation))
            line.exchange?.commandQueued()
            wake()
        }
        if let timer { loop.cancel(timer) }
        guard wasSent else {
            if let deadline, loop.now >= deadline {
                throw GatewayError(.timedOut, "\(id) was busy until it was too late for \(command)", next: "try again")
            }
            guard !isInJeopardy else { throw .jeopardy(id, "\(command) is not sent") }
            throw GatewayError(.notConnected, "the link was lost before \(command) was sent", next: "try again")
        }
    }

    /// What was counted for the meter begins anew. That needs no link.
    private func resetEnergy(_ command: MeterCommand) async throws(GatewayError) {
        guard let profile = driver?.profile, let counts else {
            throw GatewayError(
                .refused, "nothing is counted for \(id), whose model is not known", next: "meterctl connect \(id)")
        }
        do throws(CodecError) {
            try profile.validate(command)
        } catch {
            throw GatewayError(.badRequest, "\(error)", next: profile.commandHelp)
        }
        try await counts.reset(id, at: loop.wallNow)
        logger.info("counted energy reset")
    }

    /// What was counted for the meter.
    var counted: EnergyCount? { driver == nil ? nil : intake.counted }

    /// Does whatever is due now.
    private func takeTurns() {
        while let channel = line.channel, line.exchange != nil, download == nil {
            let now = loop.now
            switch line.exchange?.turn(at: now) {
            case .sendRequest:
                intake.answerEnded()
                let request = driver?.poll() ?? []
                send(request, over: channel)
                followSampling()
                // What was not asked is not waited for.
                if request.isEmpty { line.exchange?.answered() }
                markCommunicating(at: now)
            case .sendCommand:
                guard let next = commands.next() else { continue }
                guard !isInJeopardy, next.deadline.map({ now < $0 }) ?? true else {
                    commands.drop(next)
                    continue
                }
                send(next.bytes, over: channel)
                driver?.sent(next.command)
                readBacks.sent(next.command)
                logger.info("command sent", metadata: ["command": "\(next.command)"])
                commands.sent(next)
            case .giveUpAnswer:
                let partial = driver?.discardPartial() ?? 0
                followSampling()
                intake.answerIsOverdue(partial: partial)
            case .wait, nil:
                return
            }
        }
    }

    private func markCommunicating(at now: MonotonicTime) {
        apply(because: "request sent") { machine.requestSent(at: now) }
    }

    private func received(_ bytes: [UInt8]) {
        let now = loop.now
        let wallNow = loop.wallNow
        crossed(TrafficRecord(time: now, direction: .inward, bytes: bytes))
        if download != nil {
            downloadReceived(bytes)
            return arm()
        }
        guard var driver = self.driver.take() else { return }
        let profile = driver.profile
        // Before anything is counted: that a load answers nothing shows while nothing comes.
        intake.adopt(profile)
        var found: ModelName?
        driver.receive(bytes) { event in
            if case .identified(let model) = event { found = model } else { handle(event, at: now, wallNow) }
        }
        self.driver = driver
        followSampling()
        followOutput()
        if case .poll = profile.rhythm {} else { intake.answerEnded() }
        if let found { identified(as: found) }
        takeTurns()
        arm()
    }

    private func handle(_ event: MeterEvent, at now: MonotonicTime, _ wallNow: WallTime) {
        switch event {
        case .frame(let frame):
            intake.came(frame, hearsPD: hearsPD, at: wallNow)
            line.exchange?.answered()
            if device == nil { learn(from: frame) }
            intake.add(frame, at: now, wallNow) { hasData(at: now) }
        case .held:
            line.exchange?.answered()
            intake.held(at: now, wallNow)
        case .confirmed(let frame):
            intake.addHeld(frame, at: now, wallNow) { hasData(at: now) }
        case .acknowledged:
            line.exchange?.answered()
        case .rejected:
            line.exchange?.answered()
            intake.wasRejected()
            if machine.state != .dataAvailable { lastError = "the meter refused what it was asked" }
        case .readBack(let command):
            readBacks.heard(command)
        case .identified:
            break
        case .skipped(let count, let error):
            intake.skipped(count, because: error)
            logger.debug("bytes skipped", metadata: ["count": "\(count)", "cause": "\(error)"])
        case .filtered(let samples):
            intake.filtered(samples)
        }
    }

    private func hasData(at now: MonotonicTime) {
        apply(because: "valid frame") { machine.frameReceived(at: now) }
        if !line.hasReading { past.forgetTraffic() }
        line.broughtReading()
    }

    /// - Parameter all: each sample, however fast they come.
    package nonisolated func feed(ofAll all: Bool) -> Feed<TimedReading> { all ? samples : readings }

    /// Adopts what the meter says about itself. A model other than the expected one is shown to people, not hidden.
    private func learn(from frame: Frame) {
        device = frame.device
        if let device { tell(.device(device, of: id)) }
        guard let seen = device?.model, let model, seen.family == model.family, seen != model else { return }
        logger.warning(
            "the meter says it is another model",
            metadata: ["expected": "\(model.displayName)", "found": "\(seen.displayName)"])
    }

    // MARK: Permission

    /// Changes the gate, or removes it. A link that is up under the old gate is made anew; one that is up without a
    /// gate is put before the new one.
    package func use(_ newGate: (any LinkGate)?) {
        guard !isShutDown else { return }
        if claim.hasGate {
            if claim.permission != nil {
                endLink(.letGo, because: "another cloud") { machine.permissionLost(at: loop.now) == .closeChannel }
            }
            endSearch(with: .unanswered)
            claim.detach()
        }
        claim.use(newGate)
        machine.asksFirst = claim.asksFirst
        attachToGate()
        if machine.awaitsPermission {
            if machine.asksFirst {
                claim.ask(over: leaseTransport)
            } else if apply(because: "no permission needed", { machine.permitted(at: loop.now) }) == .openChannel {
                openChannel()
            }
        } else if line.channel != nil, machine.asksFirst {
            claim.askToStay(over: leaseTransport)
        }
        wake()
    }

    private func attachToGate() {
        claim.attach { [weak self] verdict in self?.assumeIsolated { $0.handle(verdict) } }
    }

    private func adopt(_ options: ConnectOptions) {
        prefer(options.link)
        claim.adopt(options, isPresent: machine.isPresent)
        machine.asksFirst = claim.asksFirst
        // A link may already be up without a permission, or be in the way of another host's lease.
        if line.channel != nil, options.isTakeover || claim.permission == nil, machine.asksFirst {
            claim.askToStay(over: leaseTransport, options.intent)
        }
    }

    /// Remembers the kind of link asked for. A link of another kind is made anew if the meter has one of that kind.
    private func prefer(_ intent: LinkPreference?) {
        if let intent { links.preferred = intent.transport }
        links.beginAnew()
        takePreferredLink()
    }

    /// Switches to the kind of link that a person asked for, if one of another kind is in use.
    private func takePreferredLink() {
        guard line.channel != nil, let transport = links.preferred, let link, link.transport != transport,
            links.next?.transport == transport
        else { return chooseLink() }
        replaceLink("\(transport.rawValue) asked for")
        chooseLink()
    }

    private func handle(_ verdict: LinkVerdict) {
        switch verdict {
        case .permitted(let permission): permitted(permission)
        case .refused(let refusal): refused(refusal)
        case .barred: barred()
        case .withdrawn(let cause): withdrawn(cause)
        }
    }

    private func permitted(_ permission: LinkPermission) {
        claim.permitted(permission)
        if case .leased(let permit) = permission {
            intake.leased(permit.token.rawValue, at: loop.wallNow)
        } else {
            intake.leased(0, at: loop.wallNow)
        }
        if search != nil { return granted(permission) }
        if line.channel == nil {
            switch apply(because: "permitted", { machine.permitted(at: loop.now) }) {
            case .openChannel:
                waits.endAll(with: .permitted, of: .permission)
                openChannel()
            case .none:
                // Nobody waits for it any more.
                claim.giveBack(.attemptFailed)
            }
        }
        // Settings held back during jeopardy.
        tellSettings()
        arm()
    }

    private func refused(_ refusal: LinkRefusal) {
        guard machine.awaitsPermission || search != nil else { return }
        switch refusal.reason {
        case .held, .revoking, .reserved:
            claim.refused(refusal)
            lastError = "\(refusal.holder ?? "another host") has it"
            if hasTwin { tellOfTwin(refusal.holder) }
            if let refusal = claim.lastWord { waits.endAll(with: .elsewhere(refusal)) }
        case .restoring:
            lastError = "the cloud was restored from a backup and gives out nothing new for some minutes"
        case .released:
            lastError = "the cloud gives no lease: \(refusal.reason.rawValue)"
        case .exhausted:
            lastError = "the zone has no room for another lease: metercloud zone set --max-leases"
        }
    }

    private func barred() {
        guard machine.awaitsPermission || search != nil else { return }
        claim.barred()
        lastError = "this host may only look, and its zone lets nobody use a meter without a lease"
        waits.endAll(with: .barred)
    }

    private func withdrawn(_ cause: String) {
        lastError = cause
        let wasPermitted = claim.permission != nil
        endLink(.letGo, because: cause) { machine.permissionLost(at: loop.now) == .closeChannel }
        if !wasPermitted { claim.giveWay() }
        endSearch(with: .elsewhere(LinkRefusal(reason: .held, holder: claim.lease?.holder, remaining: nil)))
        wake()
    }

    private var isInJeopardy: Bool { claim.isInJeopardy(at: loop.now) }

    /// The watchdog: needs no message from whoever renews the lease.
    private func stopAtHardStop() {
        guard claim.isPastHardStop(at: loop.now) else { return }
        lastError = "its lease could not be renewed in time, and another host may use it soon"
        endLink(.leaseOver, because: "lease over") {
            _ = machine.permissionLost(at: loop.now)
            return true
        }
        endSearch(with: .unanswered)
    }

    var isLinkUp: Bool { line.isUp }

    /// Who has the meter instead, if the gate has said so.
    var refusal: LinkRefusal? { claim.refusal }

    /// Whether the gate gives no permission, as this host may only look.
    var isBarred: Bool { claim.isBarred }

    /// What the gate says about the meter's lease, if there is a gate.
    var leaseStatus: LeaseStatus? { claim.lease }

    /// Whether the meter is plugged in here, and at another host that has its lease. If it was not moved a moment ago, two
    /// meters have its serial number.
    var hasTwin: Bool {
        guard case .usb = id, isPresent, leaseTransport == .usb, let lease = leaseStatus else { return false }
        return [.elsewhere, .waiting].contains(lease.state) && lease.transport == LeaseTransport.usb.rawValue
    }

    private func tellOfTwin(_ holder: String?) {
        let words = "it is plugged in here and at \(holder ?? "another host")"
        if lastTwinHolder != holder {
            logger.warning(
                "two hosts have a meter with one serial number plugged in",
                metadata: ["cause": "\(words)", "next": "\(id.twinRemedy)"])
        }
        lastTwinHolder = holder
        lastError = "\(words): \(id.twinRemedy)"
    }

    private var leaseTransport: LeaseTransport {
        switch link?.transport {
        case .ble: .ble
        case .spp: .spp
        case .serial, .hid, .bulk: .usb
        // Not here: an id that is an address belongs to a radio, whatever else leads to the meter.
        case nil: if case .mac = id { .ble } else { .usb }
        }
    }

    // MARK: A meter that is not heard here

    /// For this long after an unsuccessful search, a take-over of the meter from this host needs a person's
    /// confirmation.
    private static let doubtAfterSearch = Duration.seconds(600)

    /// As `connect`, for a meter that is not here.
    package func seek(_ options: ConnectOptions, patience: Duration) {
        connect(options)
        guard !isShutDown, machine.asksFirst, !machine.isPresent, claim.permission == nil else { return }
        search = Search(endsAt: loop.now + patience)
        claim.ask(over: leaseTransport, options.intent)
        arm()
    }

    /// Whether the last search failed a short while ago.
    var wasNotHeard: Bool { notHeardAt.map { loop.now < $0 + Self.doubtAfterSearch } ?? false }

    /// The zone granted a search.
    private func granted(_ permission: LinkPermission) {
        guard case .leased = permission else {
            // Permission without a lease is of no use while there is no link.
            claim.giveBack(.letGo)
            claim.cancel()
            return endSearch(with: .unanswered)
        }
        // A permission that replaces another is a renewal.
        guard search?.patience == nil else { return arm() }
        let patience = claim.searchTime
        search = Search(endsAt: loop.now + patience, patience: patience)
        logger.info("looking for the meter", metadata: ["for": "\(patience)"])
        waits.endAll(with: .permitted, of: .permission)
        arm()
    }

    /// The meter is here: from now on all goes as usual, with the lease kept for the first attempts at a link.
    private func found() {
        guard search != nil else { return }
        search = nil
        notHeardAt = nil
        claim.giveBack(.linkLost)
    }

    /// Ends a search whose time is over.
    private func endSearchInVain() {
        guard let search, loop.now >= search.endsAt else { return }
        guard let patience = search.patience else {
            claim.cancel()
            return endSearch(with: .timedOut)
        }
        lastError = "it was not heard here for \(patience.components.seconds) s, so its lease was given back"
        notHeardAt = loop.now
        logger.notice("the meter is not heard: its lease is given back", metadata: ["after": "\(patience)"])
        claim.giveBack(.letGo)
        endSearch(with: .notHeard(patience))
    }

    private func endSearch(with outcome: DataWait) {
        guard search != nil else { return }
        search = nil
        waits.endAll(with: outcome)
        arm()
    }

    // MARK: Settings of the meter

    /// Sends the meter the settings it was not sent over this link; nothing during jeopardy. A setting that was removed
    /// leaves the meter as it is: what it was set to before is unknown.
    private func tellSettings() {
        guard line.exchange != nil, !isInJeopardy, var driver else { return }
        for command in settings.commands(for: driver.profile) where !commands.wasTold(command) {
            do throws(CodecError) {
                commands.append(setting: command, try driver.encode(command))
                line.exchange?.commandQueued()
            } catch {
                logger.warning("a setting is not for this meter", metadata: ["cause": "\(error)"])
            }
        }
        self.driver = driver
    }

    // MARK: Logs of a meter

    /// Reads the catalogue of a meter's logs, or one of them.
    ///
    /// - Throws: `notConnected`, `refused` for a model without logs and while another one is read, `notFound` for a log
    ///   that is not there.
    package func logs(_ intent: LogRequest) async throws(GatewayError) -> MeterLogs {
        guard let transfer = model.flatMap({ catalogue.logTransfer(intent, from: $0) }) else {
            let those = catalogue.modelsWithLogs.map(\.displayName).joined(separator: " and ")
            throw GatewayError(
                .refused, "\(id) is \(model.map { "a \($0.displayName)" } ?? "of no known model") and keeps no logs",
                next: "the models that do are the \(those)")
        }
        guard line.exchange != nil, line.isUp else {
            throw GatewayError(
                .notConnected, "\(id) is \(machine.state.rawValue), so it tells no logs", next: "meterctl connect \(id)"
            )
        }
        guard !isInJeopardy else {
            throw .jeopardy(id, "it is asked for nothing more")
        }
        guard download == nil else {
            throw GatewayError(.refused, "logs of \(id) are being read already", next: "wait until they are there")
        }
        let result = await withCheckedContinuation { continuation in
            var begun = LogDownload(transfer, continuation)
            let first = begun.start()
            download = begun
            follow(first)
        }
        return try result.get()
    }

    /// Handles bytes that come during a download: they belong to it.
    private func downloadReceived(_ bytes: [UInt8]) {
        guard let (isProgress, act) = download?.received(bytes) else { return }
        if isProgress { apply(because: "log read") { machine.frameReceived(at: loop.now) } }
        follow(act)
    }

    private func follow(_ act: LogDownload.Act) {
        switch act {
        case .wait: break
        case .send(let bytes, let pause):
            guard let channel = line.channel else { return }
            if let timer = download?.timer { loop.cancel(timer) }
            send(bytes, over: channel)
            download?.timer = loop.schedule(at: loop.now + pause) { [weak self] in
                self?.assumeIsolated { $0.downloadPaused() }
            }
        case .finished(let outcome):
            let model = device?.model
            device = outcome.device
            device?.model = outcome.device.model ?? model
            endDownload(.success(outcome))
        case .failed(let failure):
            let code: ErrorCode = if case .missing = failure { .notFound } else { .refused }
            endDownload(.failure(GatewayError(code, "\(id): \(failure)", next: remedy(of: failure))))
        }
    }

    /// What to try after a failed transfer. No serial port has been seen to give logs, only the maker's interface
    /// (Docs/Protocols/KM003C.md#link).
    private func remedy(of failure: TransferFailure) -> String {
        switch failure {
        case .silent, .refused:
            let isElsewhere = link?.transport == .serial && links.inOrder.contains { $0.transport == .bulk }
            return isElsewhere
                ? "meterctl connect \(id) --over bulk takes its maker's interface, which gives logs"
                : "meterctl logs \(id) lists them"
        case .missing, .unreadable: return "meterctl logs \(id) lists them"
        }
    }

    private func downloadPaused() {
        download?.timer = nil
        if let act = download?.paused() { follow(act) }
    }

    private func endDownload(_ result: Result<MeterLogs, GatewayError>) {
        guard let finished = download.take() else { return }
        if let timer = finished.timer { loop.cancel(timer) }
        finished.outcome.resume(returning: result)
        // What was asked before will not be answered any more, and the next question is due.
        _ = driver?.discardPartial()
        line.exchange?.answered()
        takeTurns()
        arm()
    }

    // MARK: Waits

    /// Returns when data is available, somebody disconnects, another host turns out to have the meter, or the time is
    /// over.
    package func waitForData(_ patience: Duration) async -> DataWait {
        if machine.state == .dataAvailable { return .data }
        return await wait(for: .data, patience)
    }

    /// The same, for the permission to use a link.
    func waitForPermission(_ patience: Duration) async -> DataWait {
        if !machine.asksFirst || claim.permission != nil { return .permitted }
        return await wait(for: .permission, patience)
    }

    private func wait(for goal: SessionWaits.Goal, _ time: Duration) async -> DataWait {
        guard !isShutDown else { return .shuttingDown }
        if let refusal = claim.lastWord { return .elsewhere(refusal) }
        if claim.isBarred { return .barred }
        let number = waits.number()
        let timer = loop.schedule(at: loop.now + time) { [weak self] in
            self?.assumeIsolated { $0.waits.end(number, with: .timedOut) }
        }
        defer { loop.cancel(timer) }
        return await withCheckedContinuation { waits.add(number, for: goal, $0) }
    }
}
