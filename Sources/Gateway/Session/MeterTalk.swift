import Domain
import GatewayAPI
import Logging
import MeterCodec

/// Communication with one meter over an open link. After each call, the caller sets the session's alarm, and wakes the
/// session if the line is ready.
final class MeterTalk {
    private let line: MeterLine
    private let states: MeterStates
    private let tell: @Sendable (MeterDiscovery) -> Void
    let commands: MeterCommands
    let logs: LogReader
    private(set) var settings: MeterSettings { didSet { states.mark() } }
    private var settingsNumber: UInt64
    private(set) var readings: SessionReadings { didSet { states.mark() } }

    init(
        over line: MeterLine, _ states: MeterStates, commands: MeterCommands, logs: LogReader,
        readings: SessionReadings, settings: MeterSettings, settingsNumber: UInt64,
        tell: @escaping @Sendable (MeterDiscovery) -> Void
    ) {
        self.line = line
        self.states = states
        self.commands = commands
        self.logs = logs
        self.readings = readings
        self.settings = settings
        self.settingsNumber = settingsNumber
        self.tell = tell
    }

    // MARK: Settings

    /// Adopts stored settings; returns false if those in force are not older.
    func adopt(_ stored: StoredSettings) -> Bool {
        guard stored.number > settingsNumber else { return false }
        (settings, settingsNumber) = (stored.settings, stored.number)
        adoptSettings()
        return true
    }

    func adoptSettings() {
        guard let times = line.times(settings) else { return }
        line.exchange?.rhythmChanged(times.rhythm, at: states.now)
        let timing = times.timing(from: states.machine.timing)
        states.adopt(timing)
        line.adopt(settings)
        readings.adopt(settings.recordingRules(staleAfter: timing.staleAfter))
        readings.adopt(line.profile)
        tellSettings()
    }

    func tellSettings() { commands.tell(settings) }

    var expectedInterval: Duration? { line.times(settings)?.expectedInterval }

    // MARK: Links and drivers

    func chooseLink() {
        if line.takeNext() { adoptDriver() }
    }

    func adoptDriver() {
        line.adoptDriver()
        adoptSettings()
    }

    func change(to seen: ModelName) {
        line.modelIs(seen)
        readings.modelChanged(isIdentified: false)
        adoptDriver()
    }

    private func identified(as found: ModelName) -> Bool {
        if found != line.model {
            states.logger.notice("meter identified", metadata: ["model": "\(found.displayName)"])
            tell(.model(found, of: states.id))
        }
        line.identified(as: found)
        readings.modelChanged(isIdentified: true)
        adoptDriver()
        line.beginOpening()
        return goOnOpening()
    }

    func linkCameUp() -> Bool {
        line.cameUp()
        readings.linkCameUp()
        line.beginOpening()
        return goOnOpening()
    }

    /// Starts polling after the last opening message. Returns whether the line is ready.
    func goOnOpening() -> Bool {
        guard line.goOnOpening() else { return false }
        let now = states.now
        // The connection machine ignores this if the line was already set up.
        _ = states.apply(because: "line set up") { $0.lineReady(at: now) }
        guard line.isUp, let rhythm = line.times(settings)?.rhythm else { return false }
        line.exchange = ExchangeMachine(rhythm: rhythm, at: now)
        readings.exchangeBegan()
        if !rhythm.requestsAreAnswered { markCommunicating(at: now) }
        tellSettings()
        return true
    }

    func close(hasFarewell: Bool) {
        readings.linkEnded(wasUp: line.close(hasFarewell: hasFarewell))
        commands.linkEnded()
        line.discardPartial()
        follow(MeterSampling())
        logs.linkLost()
    }

    func linkWasLost() { readings.linkWasLost() }

    func leased(_ permission: LinkPermission) {
        let token = if case .leased(let permit) = permission { permit.token.rawValue } else { UInt64(0) }
        readings.leased(token, at: states.loop.wallNow)
        states.mark()
    }

    // MARK: Requests and answers

    var nextTurn: MonotonicTime? { logs.isReading ? nil : line.exchange?.nextWake }

    func takeTurns() {
        while !logs.isReading {
            let now = states.now
            switch line.exchange?.turn(at: now) {
            case .sendRequest:
                readings.answerEnded()
                let isAsked = line.poll()
                followSampling()
                if !isAsked { line.exchange?.answered() }
                markCommunicating(at: now)
            case .sendCommand:
                commands.sendNext(at: now)
            case .giveUpAnswer:
                let partial = line.discardPartial()
                followSampling()
                readings.answerIsOverdue(partial: partial)
            case .wait, nil:
                return
            }
        }
    }

    private func markCommunicating(at now: MonotonicTime) {
        states.apply(because: "request sent") { $0.requestSent(at: now) }
    }

    /// Handles received bytes. Returns whether they identified the model and its driver made the line ready.
    func received(_ bytes: [UInt8]) -> Bool {
        let now = states.now
        let wallNow = states.loop.wallNow
        line.crossed(TrafficRecord(time: now, direction: .inward, bytes: bytes))
        guard !logs.isReading else {
            logs.received(bytes)
            return false
        }
        guard let profile = line.profile else { return false }
        // Adopt the profile before counting energy: it may have changed if a load stopped answering.
        readings.adopt(profile)
        var found: ModelName?
        line.receive(bytes) { event in
            if case .identified(let model) = event { found = model } else { handle(event, at: now, wallNow) }
        }
        followSampling()
        line.followOutput()
        if case .poll = profile.rhythm {} else { readings.answerEnded() }
        return found.map { identified(as: $0) } ?? false
    }

    private func handle(_ event: MeterEvent, at now: MonotonicTime, _ wallNow: WallTime) {
        switch event {
        case .frame(let frame):
            readings.came(frame, hearsPD: line.hearsPD, at: wallNow)
            line.exchange?.answered()
            if line.device == nil { learn(from: frame) }
            readings.add(frame, at: now, wallNow) { hasData(at: now) }
        case .held:
            line.exchange?.answered()
            readings.held(at: now, wallNow)
        case .confirmed(let frame):
            readings.addHeld(frame, at: now, wallNow) { hasData(at: now) }
        case .acknowledged:
            line.exchange?.answered()
        case .rejected:
            line.exchange?.answered()
            readings.wasRejected()
            if states.machine.state != .dataAvailable { states.lastError = "the meter refused a request" }
        case .readBack(let command):
            commands.heard(command)
        case .identified:
            break
        case .skipped(let count, let error):
            readings.skipped(count, because: error)
            states.logger.debug("undecodable bytes skipped", metadata: ["count": "\(count)", "cause": "\(error)"])
        case .filtered(let samples):
            readings.filtered(samples)
        }
    }

    private func hasData(at now: MonotonicTime) {
        if states.frameReceived(because: "valid frame", at: now) { line.links.broughtData(line.link) }
        line.broughtReading()
    }

    private func learn(from frame: Frame) {
        line.learn(frame.device)
        if let device = line.device { tell(.device(device, of: states.id)) }
        guard let seen = line.device?.model, let model = line.model, seen.family == model.family, seen != model else {
            return
        }
        states.logger.warning(
            "meter reports a different model than expected",
            metadata: ["expected": "\(model.displayName)", "found": "\(seen.displayName)"])
    }

    private func followSampling() { follow(line.sampling) }

    private func follow(_ now: MeterSampling) {
        guard readings.follow(now, states.logger), let times = line.times(settings) else { return }
        line.exchange?.rhythmChanged(times.rhythm, at: states.now)
    }
}
