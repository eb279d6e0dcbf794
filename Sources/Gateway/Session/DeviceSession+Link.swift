import ConnectionCore
import GatewayAPI
import LeaseCore
import Logging
import MeterCodec
import MeterModel

/// The channel: opening it, setting the meter up, leaving it clean.
extension DeviceSession {
    /// Takes the link that is next, unless one is in use.
    func chooseLink() {
        guard channel == nil, let next = links.next, next != link || driver == nil else { return }
        let isOtherKind = next.transport != link?.transport
        link = next
        if isOtherKind || driver == nil { adoptDriver() }
    }

    /// The driver for the link that is next: the model's, or one that finds out which model it is.
    func adoptDriver() {
        if let link, link.isRadio, model == nil || doubtsModel {
            driver = IdentifyingDriver(over: link.transport, suspecting: model)
        } else if let model {
            driver =
                if let link { MeterCatalogue.driver(for: model, over: link.transport) } else {
                    MeterCatalogue.driver(for: model)
                }
        }
        adoptSettings()
    }

    /// An open link may rule families out, and so allow questions that would be orders to them.
    func narrowQuestions() {
        guard let asking = driver as? IdentifyingDriver, let families = channel?.families else { return }
        driver = IdentifyingDriver(among: families, guess: asking.profile.model)
    }

    /// A radio's name may lie: after a link on which the model that it tells gave no good frame, the next one asks.
    private var doubtsModel: Bool { !silentLinks.isMultiple(of: 2) }

    /// The meter turned out to be of a model. The link stays: only who speaks to it changes.
    func identified(as found: ModelName) {
        if found != model {
            logger.notice("the meter was identified", metadata: ["model": "\(found.displayName)"])
            tell(.model(found, of: id))
        }
        model = found
        device = nil
        latestParts = []
        silentLinks = 0
        exchange = nil
        adoptDriver()
        openingSteps = driver?.opening() ?? []
        nextOpeningStep(number: channelNumber)
    }

    func openChannel() {
        chooseLink()
        if link?.isRadio ?? false { adoptDriver() }
        guard let link, let driver else {
            lastError = noDriverCause
            note("no model") { machine.channelClosed(at: loop.now, dice: dice.next()) }
            returnPermission(.attemptFailed)
            return
        }
        channelNumber += 1
        let number = channelNumber
        channel = opener.open(link, baudRate: driver.profile.baudRate) { [weak self] event in
            self?.assumeIsolated { $0.channelEvent(event, number: number) }
        }
    }

    private var noDriverCause: String {
        guard let model, let link else {
            return "nothing says how to talk to it: name its port and model, meterctl connect /dev/… --model MODEL"
        }
        return "a \(model.displayName) cannot be read over \(link.transport.rawValue)"
    }

    /// Closes without a word to the meter. Harmless where the channel is closed already.
    func dropChannel() {
        channel?.close()
        channel = nil
        if isLinkUp { recording?.linkLost() }
        isLinkUp = false
        exchange = nil
        if let openingTimer { loop.cancel(openingTimer) }
        openingTimer = nil
        openingSteps = []
        for queued in commandQueue { queued.sent?.resume(returning: false) }
        commandQueue = []
        toldNumbers = [:]
        _ = driver?.discardPartial()
        dropDownload()
    }

    /// Tells the meter what its model needs to hear, then closes.
    func leaveCleanly() {
        if isLinkUp, let channel, var driver {
            let farewell = driver.closing()
            for outgoing in farewell { send(outgoing.bytes, over: channel) }
            self.driver = driver
            channel.close(after: farewell.map(\.pause).reduce(.zero, +))
        }
        dropChannel()
    }

    /// The link takes too long to open, or is silent.
    func giveUpLink(_ overdue: ConnectionMachine.Overdue) {
        if overdue == .silent {
            counters.disconnects += 1
            if !hasReadingOfLink { silentLinks += 1 }
        }
        let end = isLinkUp ? ChannelEnd.linkLost : .attemptFailed
        if let link { links.failed(link) }
        leaveCleanly()
        returnPermission(end)
    }

    /// Sends what is left of the opening, one step at a time, then starts to ask.
    func nextOpeningStep(number: Int) {
        guard number == channelNumber, let channel else { return }
        while !openingSteps.isEmpty {
            let step = openingSteps.removeFirst()
            send(step.bytes, over: channel)
            guard step.pause > .zero else { continue }
            openingTimer = loop.schedule(at: loop.now + step.pause) { [weak self] in
                self?.assumeIsolated { $0.nextOpeningStep(number: number) }
            }
            return
        }
        startExchange()
    }

    private func startExchange() {
        let now = loop.now
        // Nothing to the machine where another driver takes over a link that was set up already.
        _ = note("line set up") { machine.lineReady(at: now) }
        guard isLinkUp, let rhythm = exchangeRhythm else { return }
        exchange = ExchangeMachine(rhythm: rhythm, at: now)
        if !rhythm.requestsAreAnswered { markCommunicating(at: now) }
        tellSettings()
        wake()
    }

    func send(_ bytes: [UInt8], over channel: any ByteChannel) {
        // Looked at right before each send: no exchange begins after the hard stop, however late a timer is.
        guard !bytes.isEmpty, !isPastHardStop else { return }
        if traffic.hasListeners {
            traffic.yield(TrafficRecord(time: loop.now, direction: .outward, bytes: bytes))
        }
        if !hasReadingOfLink {
            past.note(TrafficRecord(time: loop.now, direction: .outward, bytes: bytes))
        }
        channel.send(bytes)
    }

    /// The times that follow from the model and from what a person set.
    func adoptSettings() {
        guard let rhythm = exchangeRhythm else { return }
        exchange?.rhythmChanged(rhythm, at: loop.now)
        var timing = machine.timing
        timing.staleAfter = settings.staleAfter ?? max(.seconds(3), (expectedInterval ?? .seconds(1)) * 3)
        timing.silenceTimeout = max(.seconds(15), timing.staleAfter * 2)
        timing.connectTimeout = link?.isRadio ?? false ? .radioConnect : .cableConnect
        note("other times were set") { machine.timingChanged(timing, at: loop.now) }
        driver?.temperatureUnit = settings.temperatureUnit
        recording?.apply(settings.recordingRules(staleAfter: timing.staleAfter))
        tellSettings()
    }

    /// How often readings should come.
    var expectedInterval: Duration? {
        switch driver?.profile.rhythm {
        case .poll(let interval, let shortest): settings.pollInterval.map { max($0, shortest) } ?? interval
        case .push(let expected, _): expected
        case nil: nil
        }
    }

    private var exchangeRhythm: ExchangeRhythm? {
        guard let profile = driver?.profile else { return nil }
        return switch profile.rhythm {
        case .poll:
            ExchangeRhythm(
                requestInterval: expectedInterval, requestsAreAnswered: true, answerTimeout: profile.answerTimeout,
                commandSpacing: profile.commandSpacing)
        case .push(_, let keepAlive):
            ExchangeRhythm(
                requestInterval: keepAlive, requestsAreAnswered: false, answerTimeout: profile.answerTimeout,
                commandSpacing: profile.commandSpacing)
        }
    }
}

extension Duration {
    /// A port that does not open in this time will not.
    fileprivate static let cableConnect = Duration.seconds(10)
    /// Finding the meter's radio again, pairing, and asking for its services, one after the other.
    fileprivate static let radioConnect = Duration.seconds(30)
}
