import Domain
import Logging
import MeterCodec

/// A meter's links, driver and current channel. All bytes go out through `send`.
final class MeterLine {
    private let states: MeterStates
    private let claim: LinkClaim
    private let catalogue: MeterCatalogue
    private let opener: any ChannelOpener
    private let traffic: Feed<TrafficRecord>

    var links = LinkChoice() { didSet { states.mark() } }
    /// Link in use, or next to be tried; if no link is available, the last one used.
    private(set) var link: LinkAddress? { didSet { states.mark() } }
    private(set) var model: ModelName? {
        didSet {
            hearsPD = catalogue.hearsPD(model)
            states.mark()
        }
    }
    /// Whether the model receives USB Power Delivery messages; cached, because each frame needs it.
    private(set) var hearsPD: Bool
    private(set) var device: DeviceInfo? { didSet { states.mark() } }
    private(set) var driver: (any MeterDriver)?
    /// Copy of the driver's `isSupplying`, because each reading asks for it.
    private(set) var isSupplying = false

    private var channel: (any ByteChannel)?
    /// Whether the channel is open: closing it then sends closing messages, and losing it counts as a disconnect.
    private(set) var isUp = false
    /// Number of the current channel, to ignore late events of an earlier one.
    private var number = 0
    private var hasReading = false
    /// Consecutive channels that were open without a reading.
    private var silentLinks = 0
    private var opening: [Outgoing] = []
    private var openingTimer: LoopTimer?
    /// Whether bytes go to the radio module's second writable characteristic, because the meter did not answer on the
    /// first one.
    private var usesOtherOutput = false
    private var ring: @Sendable (SessionTimer) -> Void = { _ in }
    /// Polling; nil until the driver's opening messages are sent. Paused while logs are read.
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

    var betterKind: LinkAddress.Transport? {
        guard isOpen, let transport = links.preferred, let link, link.transport != transport,
            links.next?.transport == transport
        else { return nil }
        return transport
    }

    /// Selects the next link. Returns whether it may need another driver.
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
        // A network board counts as a cable, because it cannot be searched for. A computed meter has no lease.
        case .serial, .hid, .bulk, .network, .computed: .usb
        // A Bluetooth address as the meter's id indicates a radio.
        case nil: if case .mac = states.id { .ble } else { .usb }
        }
    }

    var isInJeopardy: Bool { claim.isInJeopardy(at: states.now) }

    /// Whether the lease allows this command now.
    func allows(_ command: MeterCommand) -> Bool {
        let isOver = command.kind.consequence == .supplies && claim.supplyEnd.map { states.now >= $0 } ?? false
        return !isInJeopardy && !isOver
    }

    /// Time at which the meter's supply must be off; nil while it is off.
    var supplyEnd: MonotonicTime? { isSupplying ? claim.supplyEnd : nil }

    /// Switches off the meter's supply before its lease is lost.
    func endSupply() {
        guard let end = supplyEnd, states.now >= end else { return }
        isSupplying = false
        // Not `send`: if this host was suspended past the lease's end, the supply must go off nevertheless. Nobody else
        // can use the meter meanwhile, because a meter that supplies is plugged in here.
        write(driver?.endSupply() ?? [])
        states.logger.warning("supply switched off", metadata: ["cause": "the lease could not be renewed"])
    }

    // MARK: Model and driver

    func modelIs(_ seen: ModelName) {
        model = seen
        device = nil
    }

    /// Adopts the detected model. The link remains open, and the new driver sets up the meter again.
    func identified(as found: ModelName) {
        modelIs(found)
        silentLinks = 0
        exchange = nil
    }

    func learn(_ device: DeviceInfo?) { self.device = device }

    /// Selects the model's driver, or one that detects the model: a radio's name may suggest the wrong model. So after
    /// a link without a reading, the next link queries the meter.
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

    /// Excludes meter families that do not use the link's radio module from detection. Detection may then send queries
    /// that an excluded family would execute as commands.
    private func narrowQuestions() {
        guard let asking = driver as? IdentifyingDriver, let module = channel?.radioModule else { return }
        driver = IdentifyingDriver(
            among: catalogue.families(behind: module), guess: asking.profile.model, in: catalogue)
    }

    var profile: MeterProfile? { driver?.profile }

    var sampling: MeterSampling { driver?.sampling ?? MeterSampling() }

    func times(_ settings: MeterSettings) -> MeterTimes? {
        driver.map {
            MeterTimes(
                $0.profile, settings, sampling: $0.sampling.requestInterval, isFar: link?.isFar ?? false)
        }
    }

    func adopt(_ settings: MeterSettings) {
        driver?.temperatureUnit = settings.temperatureUnit
        driver?.isFiltering = settings.filters
        if let profile = driver?.profile { driver?.wantedRate = settings.rate(for: profile) }
    }

    // MARK: One channel at a time

    /// Whether a channel is open or being opened.
    var isOpen: Bool { channel != nil }

    /// Problem of a working link; nil if there is none.
    var remark: String? { isUp ? channel?.remark : nil }

    func isCurrent(_ number: Int) -> Bool { number == self.number && isOpen }

    /// Opens a channel. Its timers call `ring`; its events call `handle` with the channel's number (`isCurrent`).
    ///
    /// - Returns: the reason for a failure; nil on success.
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
            return "its port or model is unknown: name both, meterctl connect /dev/… --model MODEL"
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

    func keepServices() { states.past.gatt = channel?.gatt ?? states.past.gatt }

    func beginOpening() { opening = driver?.opening() ?? [] }

    /// Sends opening messages until the next pause. Returns whether all are sent.
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
        // A late timer must not start an exchange after the hard stop.
        if !claim.isPastHardStop(at: states.now) { write(bytes) }
    }

    private func write(_ bytes: [UInt8]) {
        guard let channel, !bytes.isEmpty else { return }
        crossed(TrafficRecord(time: states.now, direction: .outward, bytes: bytes))
        channel.send(bytes)
    }

    /// Passes traffic to listeners, and to support reports until the link delivers a reading.
    func crossed(_ record: TrafficRecord) {
        if traffic.hasListeners { traffic.yield(record) }
        if !hasReading { states.past.record(record) }
    }

    func broughtReading() {
        if !hasReading { states.past.forgetTraffic() }
        hasReading = true
        silentLinks = 0
    }

    func wasSilent() {
        if !hasReading { silentLinks += 1 }
    }

    /// Closes the channel, if any. Returns whether it was up.
    ///
    /// - Parameter hasFarewell: whether to send closing messages, if still possible.
    func close(hasFarewell: Bool) -> Bool {
        let farewell = hasFarewell && isUp ? driver?.closing() : nil
        for outgoing in farewell ?? [] { send(outgoing.bytes) }
        // Discard bytes that the meter sends after closing messages: some meters hang if nobody reads them.
        if let farewell { channel?.close(after: farewell.map(\.pause).reduce(.zero, +)) } else { channel?.close() }
        defer { isUp = false }
        channel = nil
        isSupplying = false
        exchange = nil
        opening = []
        if let openingTimer { states.loop.cancel(openingTimer) }
        openingTimer = nil
        return isUp
    }

    func timer(_ timer: SessionTimer, at time: MonotonicTime) -> LoopTimer {
        states.loop.schedule(at: time) { [ring] in ring(timer) }
    }

    // MARK: Requests and answers

    func poll() -> Bool {
        let request = driver?.poll() ?? []
        if isSupplying { isSupplying = driver?.isSupplying ?? false }
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
        isSupplying = driver?.isSupplying ?? false
    }

    func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        guard var driver = driver.take() else { return }
        driver.receive(bytes, handle)
        self.driver = driver
    }

    /// Returns the number of discarded bytes.
    @discardableResult
    func discardPartial() -> Int { driver?.discardPartial() ?? 0 }

    /// Switches to the radio module's other writable characteristic (`ByteChannel.switchOutput`) if the driver got no
    /// answer. A new link begins with the one used last.
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
