import ConnectionCore
import GatewayAPI
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
    var logger: Logger
    var dice: any RandomNumberGenerator & Sendable

    var machine: ConnectionMachine
    var exchange: ExchangeMachine?
    var driver: (any MeterDriver)?
    var model: ModelName?
    var link: LinkAddress?
    var deviceName: String?
    var settings: MeterSettings

    var channel: (any ByteChannel)?
    /// Rises with each channel, so that a late event of an old one is known as such.
    var channelNumber = 0
    var openingSteps: [Outgoing] = []
    var commandQueue: [QueuedCommand] = []
    var alarm: (timer: LoopTimer, time: MonotonicTime)?

    var latest: TimedReading?
    var device: DeviceInfo?
    var stateSince: WallTime
    var lastError: String?
    var counters = MeterStatus.Counters()
    var dataWaiters: [UInt64: CheckedContinuation<DataWait, Never>] = [:]
    var nextWaiterID: UInt64 = 0

    package init(
        id: MeterID, model: ModelName?, isWanted: Bool, settings: MeterSettings, loop: any SessionLoop,
        opener: any ChannelOpener, track: SampleTrack, dice: any RandomNumberGenerator & Sendable, logger: Logger
    ) {
        self.id = id
        self.model = model
        self.settings = settings
        self.loop = loop
        self.opener = opener
        self.track = track
        self.dice = dice
        self.logger = logger
        self.logger[metadataKey: "meter.id"] = "\(id)"
        machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: isWanted)
        stateSince = loop.wallNow
        driver = model.flatMap { MeterCatalogue.driver(for: $0) }
    }

    // MARK: What happens to it, from outside

    /// The device is there.
    package func appeared(_ sighting: Sighting) {
        link = sighting.link
        deviceName = sighting.name ?? deviceName
        if let seen = sighting.model, seen != model {
            model = seen
            driver = MeterCatalogue.driver(for: seen)
        }
        adoptSettings()
        note("device present at \(sighting.link.display)") { machine.appeared(at: loop.now) }
        wake()
    }

    /// The device is gone.
    package func vanished() {
        switch note("device gone", { machine.vanished() }) {
        case .closeChannel: dropChannel()
        case .none: break
        }
        arm()
    }

    package func connect() {
        adoptSettings()
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
        letGo("shutting down")
        disarm()
        endWaits(with: .disconnected)
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
        let action = note("time passed") { machine.woke(at: loop.now, dice: dice.next()) }
        switch action {
        case .openChannel: openChannel()
        case .closeChannel(let overdue): giveUpLink(overdue)
        case .none: break
        }
        takeTurns()
        arm()
    }

    private func letGo(_ cause: String) {
        switch note(cause, { machine.disconnectWanted() }) {
        case .closeChannel: leaveCleanly()
        case .none: break
        }
        arm()
    }

    private func channelOpened() {
        switch note("link up", { machine.channelOpened(at: loop.now) }) {
        case .setUpLine:
            counters.connects += 1
            device = nil
            openingSteps = driver?.opening() ?? []
            nextOpeningStep(number: channelNumber)
        case .closeChannel:
            dropChannel()
        }
        arm()
    }

    private func channelClosed(_ failure: ChannelFailure) {
        if machine.state != .connecting { counters.disconnects += 1 }
        lastError = failure.message
        dropChannel()
        note(failure.message) { machine.channelClosed(at: loop.now, dice: dice.next()) }
        arm()
    }

    /// Tells the machine of an event, and logs a change of state with its cause.
    @discardableResult
    func note<Action>(_ cause: String, _ event: () -> Action) -> Action {
        let before = machine.state
        let action = event()
        if machine.state != before { stateChanged(from: before, because: cause) }
        return action
    }

    private func stateChanged(from before: ConnectionState, because cause: String) {
        stateSince = loop.wallNow
        logger.info(
            "meter state changed",
            metadata: ["from": "\(before.rawValue)", "to": "\(machine.state.rawValue)", "cause": "\(cause)"])
        if machine.state == .dataAvailable {
            lastError = nil
            endWaits(with: .data)
        }
    }

    /// Sets the alarm to the next moment at which anything is due. One that rings too early does no harm, so a later
    /// need leaves it as it is.
    func arm() {
        let due = [machine.nextWake, exchange?.nextWake].compactMap { $0 }.min()
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
