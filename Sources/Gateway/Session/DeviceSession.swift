import ConnectionCore
import GatewayAPI
import LeaseCore
package import Logging
import MeterCodec
package import MeterModel

/// Runs one meter: its states, its requests, its channel, its readings.
///
/// An actor on the loop. Everything that happens to it is one of the methods below; each calls one machine method and
/// performs what it returns. Channel and timer events arrive on the loop already, so they change no thread. A session
/// shares nothing with another but the loop, so that one meter's failures stay its own.
package actor DeviceSession {
    package nonisolated let id: MeterID
    /// Readings as they come.
    package nonisolated let readings = Feed<TimedReading>()
    /// Raw bytes as they cross the link.
    package nonisolated let traffic = Feed<TrafficRecord>()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated let loop: any SessionLoop
    nonisolated let opener: any ChannelOpener
    let track: SampleTrack
    /// nil: nobody records charge sessions.
    let recording: RecordingTrack?
    /// Hears what is found out about the meter.
    nonisolated let tell: @Sendable (MeterDiscovery) -> Void
    var logger: Logger
    var dice: any RandomNumberGenerator & Sendable

    var machine: ConnectionMachine
    var exchange: ExchangeMachine?
    var driver: (any MeterDriver)?
    var model: ModelName?
    /// What leads to the meter now.
    var links = LinkChoice()
    /// The link in use, or the one that is tried next; the last one while there is none.
    var link: LinkAddress?
    /// Of the link over which it was last seen before a restart.
    let lastTransport: LinkAddress.Transport?
    var deviceName: String?
    var settings: MeterSettings

    var channel: (any ByteChannel)?
    /// The channel is open: leaving it says goodbye to the meter, and losing it is counted.
    var isLinkUp = false
    /// Rises with each channel, so that a late event of an old one is known as such.
    var channelNumber = 0
    var openingSteps: [Outgoing] = []
    var openingTimer: LoopTimer?
    var commandQueue: [QueuedCommand] = []
    /// While logs are read, the exchange rests.
    var download: Download?
    /// What the meter was set to over this link (`tellSettings`).
    var toldNumbers: [MeterCommand.Kind: Int] = [:]
    var alarm: (timer: LoopTimer, time: MonotonicTime)?

    /// Who has a say in whether the link may be used; nil: nobody.
    var gate: (any LinkGate)?
    /// For the present attempt or link. nil without a gate, and while there is none.
    var permission: LinkPermission?
    /// How the next permission is to be asked for.
    var wish = LeaseWish.resume
    /// A person wants it connected without asking the gate.
    var isExempt = false
    /// Through what whoever waits for this meter goes on waiting.
    var patience = Patience.none
    /// Who has it instead, since the gate said so.
    var refusal: LinkRefusal?
    /// It is asked for, or its lease is kept, while it is not heard here.
    var search: Search?
    /// When a search last ended without a sign of it.
    var notHeardAt: MonotonicTime?

    var latest: TimedReading?
    /// The last one of each kind of frame: some meters tell what they measure in several, each with other quantities.
    var latestParts: [TimedReading] = []
    /// The present link brought a reading.
    var hasReadingOfLink = false
    /// Links in a row that were up and brought none.
    var silentLinks = 0
    var device: DeviceInfo?
    var stateSince: WallTime
    var lastError: String?
    var counters = MeterStatus.Counters()
    var past = SessionPast()
    var waiters: [UInt64: Waiter] = [:]
    var nextWaiterID: UInt64 = 0
    private(set) var isShutDown = false

    package init(
        id: MeterID, model: ModelName?, isWanted: Bool, preferred: LinkAddress.Transport? = nil,
        lastTransport: LinkAddress.Transport? = nil, settings: MeterSettings, loop: any SessionLoop,
        opener: any ChannelOpener, track: SampleTrack, recording: RecordingTrack? = nil,
        dice: any RandomNumberGenerator & Sendable, logger: Logger, gate: (any LinkGate)? = nil,
        tell: @escaping @Sendable (MeterDiscovery) -> Void = { _ in }
    ) {
        self.tell = tell
        self.id = id
        self.model = model
        self.lastTransport = lastTransport
        self.settings = settings
        self.loop = loop
        self.opener = opener
        self.track = track
        self.recording = recording
        self.dice = dice
        self.logger = logger
        self.logger[metadataKey: "meter.id"] = "\(id)"
        self.gate = gate
        machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: isWanted, asksFirst: gate != nil)
        stateSince = loop.wallNow
        driver = model.flatMap { MeterCatalogue.driver(for: $0) }
        links.preferred = preferred
        recording?.apply(settings.recordingRules(staleAfter: machine.timing.staleAfter))
    }

    // MARK: What happens to it, from outside

    /// The device is there.
    package func appeared(_ sighting: Sighting) {
        guard !isShutDown else { return }
        attachToGate()
        found()
        deviceName = sighting.name.map { $0.visible } ?? deviceName
        links.appeared(sighting.link, rssi: sighting.rssi)
        if let seen = sighting.model, seen != model { change(to: seen) }
        takePreferredLink()
        adoptSettings()
        note("device present at \(sighting.link.display)") { machine.appeared(at: loop.now) }
        wake()
    }

    /// The device, known to be there, was heard again.
    package func heard(over link: LinkAddress, rssi: Int?) {
        links.heard(link, rssi: rssi)
    }

    /// The device is gone from a link. Where another one leads to it, that one is next.
    package func vanished(from goneLink: LinkAddress) {
        guard links.vanished(goneLink), goneLink == link else { return }
        guard links.isEmpty else {
            if channel != nil { channelClosed(ChannelFailure(.lost, "\(goneLink.display) is gone.")) }
            return chooseLink()
        }
        if isLinkUp { counters.disconnects += 1 }
        let end = isLinkUp ? ChannelEnd.linkLost : .attemptFailed
        let wasAsking = machine.awaitsPermission
        switch note("device gone", { machine.vanished() }) {
        case .closeChannel: dropChannel()
        case .none: break
        }
        returnPermission(end)
        if wasAsking { gate?.cancel(id) }
        arm()
    }

    package func connect(_ manner: ConnectManner = ConnectManner()) {
        guard !isShutDown else { return }
        attachToGate()
        adoptSettings()
        take(manner)
        note("connect asked for") { machine.connectWanted(at: loop.now) }
        wake()
    }

    package func disconnect() {
        lastError = nil
        letGo("disconnect asked for")
        endWaits(with: .disconnected)
    }

    package func apply(_ settings: MeterSettings) {
        self.settings = settings
        adoptSettings()
        wake()
    }

    /// Leaves the meter clean and ends every stream. Nothing happens to the session afterwards.
    package func shutdown() {
        isShutDown = true
        letGo("shutting down")
        endWaits(with: .shuttingDown)
        readings.finish()
        traffic.finish()
    }

    // MARK: What happens on the loop

    func channelEvent(_ event: ChannelEvent, number: Int) {
        guard number == channelNumber, channel != nil else { return }
        switch event {
        case .opened: channelOpened()
        case .received(let bytes): received(bytes)
        case .closed(let failure): channelClosed(failure)
        }
    }

    /// Time passed, or something may be due.
    func wake() {
        stopAtHardStop()
        endSearchInVain()
        let action = note(nil) { machine.woke(at: loop.now, dice: dice.next()) }
        switch action {
        case .openChannel: openChannel()
        case .requestPermission: requestPermission()
        case .closeChannel(let overdue):
            lastError = timeCause(from: overdue == .connecting ? .connecting : .communicating)
            giveUpLink(overdue)
        case .none: break
        }
        takeTurns()
        arm()
    }

    /// Takes another model's driver. A link that is open was set up for the old one, so it is made anew.
    private func change(to seen: ModelName) {
        if channel != nil {
            leaveCleanly()
            note("another model") { machine.channelClosed(at: loop.now, dice: dice.next()) }
            returnPermission(.linkLost)
        }
        model = seen
        device = nil
        latestParts = []
        adoptDriver()
    }

    private func letGo(_ cause: String) {
        search = nil
        switch note(cause, { machine.disconnectWanted() }) {
        case .closeChannel: leaveCleanly()
        case .none: break
        }
        returnPermission(.letGo)
        // Also a lease that is kept for a reconnect.
        gate?.cancel(id)
        arm()
    }

    private func channelOpened() {
        switch note("link up", { machine.channelOpened(at: loop.now) }) {
        case .setUpLine:
            isLinkUp = true
            hasReadingOfLink = false
            past.forgetTraffic()
            past.gatt = channel?.gatt ?? past.gatt
            counters.connects += 1
            gate?.linkUp(id)
            device = nil
            narrowQuestions()
            openingSteps = driver?.opening() ?? []
            nextOpeningStep(number: channelNumber)
        case .closeChannel:
            dropChannel()
        }
        arm()
    }

    private func channelClosed(_ failure: ChannelFailure) {
        if isLinkUp { counters.disconnects += 1 }
        lastError = failure.message
        past.gatt = channel?.gatt ?? past.gatt
        let end = isLinkUp ? ChannelEnd.linkLost : .attemptFailed
        if let link { links.failed(link) }
        dropChannel()
        note(failure.message) { machine.channelClosed(at: loop.now, dice: dice.next()) }
        returnPermission(end)
        if failure.code == .permission { endWaits(with: .forbidden(failure)) }
        arm()
    }

    /// Tells the machine of an event, and logs a change of state with its cause. nil: the cause is the time that passed.
    @discardableResult
    func note<Action>(_ cause: String?, _ event: () -> Action) -> Action {
        let before = machine.state
        let action = event()
        if machine.state != before { stateChanged(from: before, because: cause ?? timeCause(from: before)) }
        return action
    }

    /// What it means that time passed in a state.
    private func timeCause(from before: ConnectionState) -> String {
        switch before {
        case .offline: "the device is still there"
        case .notConnected: "an attempt is due"
        case .connecting: "the link did not open within \(machine.timing.connectTimeout.milliseconds) ms"
        case .connected, .ready, .communicating: "no valid answer for \(machine.timing.silenceTimeout.milliseconds) ms"
        case .dataAvailable: "no valid frame for \(machine.timing.staleAfter.milliseconds) ms"
        }
    }

    private func stateChanged(from before: ConnectionState, because cause: String) {
        stateSince = loop.wallNow
        past.note(from: before, to: machine.state, cause: cause, at: loop.now)
        logger.info(
            "meter state changed",
            metadata: ["from": "\(before.rawValue)", "to": "\(machine.state.rawValue)", "cause": "\(cause)"])
        if machine.state == .dataAvailable {
            lastError = nil
            if let link { links.broughtData(link) }
            endWaits(with: .data)
        }
    }

    /// Sets the alarm to the next moment at which anything is due. One that rings too early does no harm, so a later
    /// need leaves it as it is.
    func arm() {
        let exchangeWake = download == nil ? exchange?.nextWake : nil
        let due = [machine.nextWake, exchangeWake, hardStop, search?.endsAt].compactMap { $0 }.min()
        guard let due else { return disarm() }
        if let alarm {
            guard due < alarm.time else { return }
            loop.cancel(alarm.timer)
        }
        let timer = loop.schedule(at: due) { [weak self] in
            guard let self else { return }
            self.assumeIsolated { session in
                session.alarm = nil
                session.wake()
            }
        }
        alarm = (timer, due)
    }

    private func disarm() {
        if let alarm { loop.cancel(alarm.timer) }
        alarm = nil
    }
}
