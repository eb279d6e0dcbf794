import Domain
import MeterCodec

/// The line to one meter: the links that lead to it, the driver for its model, and one channel at a time, from `open` to
/// `close`. Whatever is sent passes `send`.
final class MeterLine {
    private let states: MeterStates
    private let claim: LinkClaim
    private let catalogue: MeterCatalogue
    private let opener: any ChannelOpener
    private let traffic: Feed<TrafficRecord>

    /// The links that lead to the meter now.
    var links = LinkChoice() { didSet { states.mark() } }
    /// The link in use or next to be tried; the last one used if there is none.
    private(set) var link: LinkAddress? { didSet { states.mark() } }
    private(set) var model: ModelName? {
        didSet {
            hearsPD = catalogue.hearsPD(model)
            states.mark()
        }
    }
    /// Whether the meter's model hears USB Power Delivery. Looked up once, as every frame asks.
    private(set) var hearsPD: Bool
    /// What the meter said about itself over the present link, or over the last one.
    private(set) var device: DeviceInfo? { didSet { states.mark() } }
    private(set) var driver: (any MeterDriver)?

    private var channel: (any ByteChannel)?
    /// The channel is open: leaving it sends the meter its goodbye, and losing it counts.
    private(set) var isUp = false
    /// Rises with each channel, so that a late event from an old one is recognised.
    private var number = 0
    /// Whether the present channel, or the last one, brought a reading.
    private var hasReading = false
    /// Consecutive channels that were up and brought no reading.
    private var silentLinks = 0
    private var opening: [Outgoing] = []
    private var openingTimer: LoopTimer?
    /// Whether the meter is written to by the second way to its line, since it answered nothing by the first.
    private var usesOtherOutput = false
    /// What timers call: given with each channel.
    private var ring: @Sendable (SessionTimer) -> Void = { _ in }
    /// Present once the meter is being set up. It rests while logs are read.
    var exchange: ExchangeMachine?

    init(
        _ states: MeterStates, claim: LinkClaim, to model: ModelName?, preferred: LinkAddress.Transport?,
        catalogue: MeterCatalogue, opener: any ChannelOpener, traffic: Feed<TrafficRecord>
    ) {
        self.states = states
        self.claim = claim
        self.model = model
        hearsPD = catalogue.hearsPD(model)
        self.catalogue = catalogue
        self.opener = opener
        self.traffic = traffic
        driver = model.flatMap { catalogue.driver(for: $0) }
        links.preferred = preferred
    }

    // MARK: Links

    /// The kind of link that a person asked for and that could replace one of another kind, which is in use.
    var betterKind: LinkAddress.Transport? {
        guard isOpen, let transport = links.preferred, let link, link.transport != transport,
            links.next?.transport == transport
        else { return nil }
        return transport
    }

    /// Takes the next link, unless one is in use.
    ///
    /// - Returns: whether another driver may be needed for it.
    func takeNext() -> Bool {
        guard !isOpen, let next = links.next, next != link || driver == nil else { return false }
        let isOtherKind = next.transport != link?.transport
        link = next
        return isOtherKind || driver == nil
    }

    var leaseTransport: LeaseTransport {
        switch link?.transport {
        case .ble: .ble
        case .spp: .spp
        // A board that is not configured here cannot be looked for either.
        case .serial, .hid, .bulk, .network: .usb
        // Not here: an id that is an address belongs to a radio, whatever else leads to the meter.
        case nil: if case .mac = states.id { .ble } else { .usb }
        }
    }

    /// Under `strict`, a lease not renewed for long allows reading only.
    var isInJeopardy: Bool { claim.isInJeopardy(at: states.now) }

    // MARK: Model and driver

    /// Another model than was thought, which says nothing yet about itself.
    func modelIs(_ seen: ModelName) {
        model = seen
        device = nil
    }

    /// The meter's model was found out. The link stays; the driver that takes over sets the meter up anew.
    func identified(as found: ModelName) {
        modelIs(found)
        silentLinks = 0
        exchange = nil
    }

    func learn(_ device: DeviceInfo?) { self.device = device }

    /// Takes the driver for the next link: the model's, or one that finds out the model. A radio's name may be wrong: if
    /// a link used as the model it suggests gave no good frame, the next link asks the meter.
    func adoptDriver() {
        if let link, link.isRadio, model == nil || !silentLinks.isMultiple(of: 2) {
            driver = IdentifyingDriver(over: link.transport, suspecting: model, in: catalogue)
        } else if let model {
            driver =
                if let link { catalogue.driver(for: model, over: link.transport) } else {
                    catalogue.driver(for: model)
                }
        }
    }

    /// An open link may rule out families, and so allow questions that those would take for orders.
    private func narrowQuestions() {
        guard let asking = driver as? IdentifyingDriver, let module = channel?.radioModule else { return }
        driver = IdentifyingDriver(
            among: catalogue.families(behind: module), guess: asking.profile.model, in: catalogue)
    }

    /// The model's rhythm and abilities, if the model is known.
    var profile: MeterProfile? { driver?.profile }

    /// How the driver says that the meter samples now.
    var sampling: MeterSampling { driver?.sampling ?? MeterSampling() }

    func times(_ settings: MeterSettings) -> MeterTimes? {
        driver.map {
            MeterTimes(
                $0.profile, settings, sampling: $0.sampling.requestInterval, isFar: link?.isFar ?? false)
        }
    }

    /// Has the driver do as a person set it.
    func adopt(_ settings: MeterSettings) {
        driver?.temperatureUnit = settings.temperatureUnit
        driver?.isFiltering = settings.filters
        if let profile = driver?.profile { driver?.wantedRate = settings.rate(for: profile) }
    }

    // MARK: One channel at a time

    /// Whether there is a channel, open or being opened.
    var isOpen: Bool { channel != nil }

    /// What is wrong with a link that works.
    var remark: String? { isUp ? channel?.remark : nil }

    /// Whether an event belongs to the present channel.
    func isCurrent(_ number: Int) -> Bool { number == self.number && isOpen }

    /// - Parameters:
    ///   - ring: called by the timers that are set over this channel.
    ///   - handle: called with its events, and its number for `isCurrent`.
    /// - Returns: nil once it is being opened, else why it cannot be.
    func open(
        ring: @escaping @Sendable (SessionTimer) -> Void, _ handle: @escaping @Sendable (ChannelEvent, Int) -> Void
    ) -> String? {
        guard let link, let driver else { return noDriverCause }
        self.ring = ring
        number += 1
        channel = opener.open(link, as: LineSettings(of: driver.profile)) { [number] in handle($0, number) }
        return nil
    }

    private var noDriverCause: String {
        guard let model, let link else {
            return "nothing says how to talk to it: name its port and model, meterctl connect /dev/… --model MODEL"
        }
        return "a \(model.displayName) cannot be read over \(link.transport.rawValue)"
    }

    func cameUp() {
        (isUp, hasReading) = (true, false)
        states.past.forgetTraffic()
        keepServices()
        claim.linkUp()
        device = nil
        narrowQuestions()
        if usesOtherOutput { usesOtherOutput = channel?.switchOutput() ?? false }
    }

    /// Keeps what the other end offers for a maintainer.
    func keepServices() { states.past.gatt = channel?.gatt ?? states.past.gatt }

    /// From now on `goOnOpening` sends what sets the meter up.
    func beginOpening() { opening = driver?.opening() ?? [] }

    /// Sends the rest of the opening, up to the next pause.
    ///
    /// - Returns: whether that was all of it.
    func goOnOpening() -> Bool {
        while !opening.isEmpty {
            let step = opening.removeFirst()
            send(step.bytes)
            guard step.pause > .zero else { continue }
            openingTimer = timer(.opening(number), at: states.now + step.pause)
            return false
        }
        return true
    }

    func send(_ bytes: [UInt8]) {
        // Checked right before each send: no exchange begins after the hard stop, however late a timer is.
        guard let channel, !bytes.isEmpty, !claim.isPastHardStop(at: states.now) else { return }
        crossed(TrafficRecord(time: states.now, direction: .outward, bytes: bytes))
        channel.send(bytes)
    }

    /// Keeps what crossed the link until it brings a reading, for a maintainer.
    func crossed(_ record: TrafficRecord) {
        if traffic.hasListeners { traffic.yield(record) }
        if !hasReading { states.past.record(record) }
    }

    func broughtReading() {
        if !hasReading { states.past.forgetTraffic() }
        hasReading = true
        silentLinks = 0
    }

    /// The line was silent for too long.
    func wasSilent() {
        if !hasReading { silentLinks += 1 }
    }

    /// Harmless without a channel.
    ///
    /// - Parameter hasFarewell: whether the meter is sent its goodbye, if it may still be spoken to.
    /// - Returns: whether the channel was up.
    func close(hasFarewell: Bool) -> Bool {
        let farewell = hasFarewell && isUp ? driver?.closing() : nil
        for outgoing in farewell ?? [] { send(outgoing.bytes) }
        // The channel goes on receiving for so long after the goodbye.
        if let farewell { channel?.close(after: farewell.map(\.pause).reduce(.zero, +)) } else { channel?.close() }
        defer { isUp = false }
        channel = nil
        exchange = nil
        opening = []
        if let openingTimer { states.loop.cancel(openingTimer) }
        openingTimer = nil
        return isUp
    }

    /// Sets a timer that rings in the session.
    func timer(_ timer: SessionTimer, at time: MonotonicTime) -> LoopTimer {
        states.loop.schedule(at: time) { [ring] in ring(timer) }
    }

    // MARK: Requests and answers

    /// Asks for the next reading.
    ///
    /// - Returns: whether there was anything to ask.
    func poll() -> Bool {
        let request = driver?.poll() ?? []
        send(request)
        return !request.isEmpty
    }

    func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        guard var driver else { return [] }
        let bytes = try driver.encode(command)
        self.driver = driver
        return bytes
    }

    func send(_ command: MeterCommand, _ bytes: [UInt8]) {
        send(bytes)
        driver?.sent(command)
    }

    func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        guard var driver = driver.take() else { return }
        driver.receive(bytes, handle)
        self.driver = driver
    }

    /// - Returns: number of bytes of an answer whose rest is overdue.
    @discardableResult
    func discardPartial() -> Int { driver?.discardPartial() ?? 0 }

    /// Tries the other way to the meter's line where what was sent got no answer. A new link begins with the one used last.
    func followOutput() {
        guard driver?.doubtsOutput == true, let channel else { return }
        let isSwitched = channel.switchOutput()
        if isSwitched { usesOtherOutput.toggle() }
        send(driver?.outputSwitched(isSwitched) ?? [])
    }
}

extension MeterCatalogue {
    fileprivate func hearsPD(_ model: ModelName?) -> Bool { model.map { modelsHearingPD.contains($0) } ?? false }
}
