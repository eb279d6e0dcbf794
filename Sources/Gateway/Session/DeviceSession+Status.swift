package import Domain
package import GatewayAPI
package import MeterCodec

/// What people see of a session.
extension DeviceSession {
    var machine: ConnectionMachine { states.machine }
    var stateSince: WallTime { states.since }
    var lastError: String? { states.lastError }
    /// The links that lead to the meter now.
    var links: LinkChoice { line.links }
    /// The link in use or next to be tried; the last one used if there is none.
    var link: LinkAddress? { line.link }
    var isLinkUp: Bool { line.isUp }
    /// Whether this host talks to the meter.
    var isLinked: Bool { line.exchange != nil }
    var model: ModelName? { line.model }
    /// What the meter said about itself over the present link, or over the last one.
    var device: DeviceInfo? { line.device }
    var settings: MeterSettings { talk.settings }
    /// How often readings should come.
    var expectedInterval: Duration? { talk.expectedInterval }
    /// What was counted for the meter.
    var counted: EnergyCount? { line.driver == nil ? nil : talk.readings.counted }
    /// Who has the meter instead, if the gate has said so.
    var refusal: LinkRefusal? { claim.refusal }
    /// Whether the gate gives no permission, as this host may only look.
    var isBarred: Bool { claim.isBarred }
    /// What the gate says about the meter's lease, if there is a gate.
    var leaseStatus: LeaseStatus? { claim.lease }
    /// Whether the meter is plugged in here, and at another host that has its lease.
    var hasTwin: Bool { isPresent && claim.hasTwin(over: line.leaseTransport) }
    /// Whether the last search failed a short while ago.
    var wasNotHeard: Bool { search.wasNotHeard }

    package func status() -> MeterStatus {
        let now = loop.now
        var status = MeterStatus(
            id: id.description, state: machine.state.rawValue, since: stateSince.description,
            local_only: id.isLocalOnly, wanted: machine.isWanted, counters: talk.readings.counters)
        status.model = shownModel?.displayName
        status.name = settings.name ?? deviceName
        status.transport = link?.transport.rawValue
        status.port = link?.display
        status.transports = transports
        status.rssi = link.flatMap { links.rssi(of: $0) }
        if let reading = wholeReading(at: now) {
            status.reading = ReadingBody(reading.reading)
            // A sample's time is drawn towards the host's clock, and may be a little ahead of it.
            status.age_ms = max(0, (now - reading.time).milliseconds)
            status.spread = talk.readings.recent.whole.map {
                SpreadBody(count: $0.readingCount, least: ReadingBody($0.minima), greatest: ReadingBody($0.maxima))
            }
        }
        status.sampling = samplingBody
        if let device, device != DeviceInfo(model: device.model) {
            status.device = DeviceBody(
                serial: device.serial, firmware: device.firmware, hardware: device.hardware,
                power_on_count: device.powerOnCount)
        }
        status.tariff = settings.tariff
        status.counted = counted.flatMap { CountedBody($0) }
        status.told = told()
        if line.hearsPD { status.hears_pd = true }
        if case .poll? = profile?.rhythm { status.poll_interval_ms = expectedInterval?.milliseconds }
        status.retry_in_ms = machine.retryAt.map { max(0, ($0 - now).milliseconds) }
        status.searching_ms = search.left(at: now).map { max(0, $0.milliseconds) }
        status.lease = leaseStatus ?? LeaseStatus(.none)
        let wrong = machine.state == .dataAvailable ? nil : talk.readings.spoilt.words(for: model)
        if wrong != nil { status.rejected_answers = talk.readings.spoilt.count }
        status.error = wrong ?? lastError ?? line.remark
        return status
    }

    private var samplingBody: SamplingBody? {
        guard let profile, let wanted = settings.rate(for: profile) else { return nil }
        // Nobody has shown a serial port that gives its queue, only the maker's own interface
        // (Docs/Protocols/KM003C.md#link).
        let isElsewhere = link?.transport == .serial && links.inOrder.contains { $0.transport == .bulk }
        let next = isElsewhere ? "; meterctl connect \(id) --over bulk takes its maker's interface" : ""
        return SamplingBody(
            wanted: wanted, rate: talk.readings.sampling.rate, error: talk.readings.sampling.failure.map { $0 + next })
    }

    /// What was heard on the meter's CC line while meterd runs, and whether this host hears what happens now.
    ///
    /// - Throws: `refused` for a model that does not hear it; `held` where another host has the meter and nothing was
    ///   heard here.
    package func heardPD() throws(GatewayError) -> (timeline: PDTimeline, isListening: Bool) {
        guard line.hearsPD else {
            let those = catalogue.modelsHearingPD.map(\.displayName).joined(separator: ", ")
            throw GatewayError(
                .refused,
                "\(id) is \(model.map { "a \($0.displayName)" } ?? "of no known model") and hears no USB Power Delivery",
                next: "the models that do are the \(those)")
        }
        if !isLinked, talk.readings.powerDelivery.entries.isEmpty, leaseStatus?.state == .elsewhere,
            let holder = leaseStatus?.holder
        {
            throw GatewayError(
                .held, "\(holder) has \(id), so its USB Power Delivery is heard there",
                next: "look there, or take it over: meterctl connect \(id) --takeover")
        }
        return (talk.readings.powerDelivery, isLinked)
    }

    /// What an electronic load says of itself now; nil for another meter, and while it is not heard.
    func loadView() -> LoadView? { machine.state == .dataAvailable ? LoadView(told()) : nil }

    /// - Parameter all: each sample, however fast they come.
    package nonisolated func feed(ofAll all: Bool) -> Feed<TimedReading> { all ? samples : readings }

    /// What the meter tells besides readings.
    package func told() -> ToldBody? { talk.readings.told.body }

    /// The last reading, completed with what other frames held and is not stale.
    func wholeReading(at now: MonotonicTime) -> TimedReading? {
        guard var whole = talk.readings.latest.whole(at: now, staleAfter: machine.timing.staleAfter) else { return nil }
        // It may have been reset since, and no reading came.
        if whole.reading.supported.contains(.countedEnergy) { counted?.put(into: &whole.reading) }
        return whole
    }

    /// The meter's entry in a scan, if it is present.
    package func scanEntry() -> ScanEntry? {
        guard machine.isPresent, let link else { return nil }
        var entry = ScanEntry(
            id: id.description, model: shownModel?.displayName, name: settings.name ?? deviceName,
            transport: link.transport.rawValue, port: link.display, state: machine.state.rawValue)
        entry.transports = transports
        entry.rssi = links.rssi(of: link)
        entry.adapter = link.adapter?.description
        entry.holder = leaseStatus?.holder
        entry.flags = link.addressFlags
        return entry
    }

    /// The kinds of link that lead to the meter, without duplicates.
    var transports: [String] {
        var kinds: [LinkAddress.Transport] = []
        for link in links.inOrder where !kinds.contains(link.transport) { kinds.append(link.transport) }
        return kinds.map(\.rawValue)
    }

    /// The name a person gave, or the device's own.
    package var displayName: String? { settings.name ?? deviceName }

    /// The loop's clock, which all times in this session's records refer to.
    package nonisolated var now: MonotonicTime { loop.now }

    var knownModel: ModelName? { model }

    /// The model that people see: the meter's own word, if it has given it.
    var shownModel: ModelName? { device?.model ?? model }

    /// Whether the meter's model is known, or can be found out by asking the meter once it is here.
    var canBeRead: Bool { model != nil || (link?.isRadio ?? !id.isLocalOnly) }

    /// Whether the meter is plugged in, or heard.
    var isPresent: Bool { machine.isPresent }

    /// Whether the session can be dropped: nobody wants the meter, nothing leads to it, and its model was never known.
    var isPasserBy: Bool { model == nil && !machine.isWanted && links.isEmpty }

    /// The model's rhythm and abilities, if the model is known.
    package var profile: MeterProfile? { line.profile }
}

extension CountedBody {
    fileprivate init?(_ count: EnergyCount) {
        guard let since = count.since else { return nil }
        var rounded = Reading()
        count.put(into: &rounded)
        self.init(
            energy_Wh: rounded[.countedEnergy] ?? 0, charge_mAh: rounded[.countedCharge] ?? 0,
            since: since.description, counted_ms: Int64(min(count.seconds * 1000, 1e15)))
    }
}

extension LinkAddress {
    /// What is unusual about a public address. A random one may have any bit set.
    fileprivate var addressFlags: [String] {
        switch self {
        case .serial, .hid, .bulk, .network: []
        case .ble(let radio): radio.isRandom ? [] : radio.address.flags
        case .spp(let radio): radio.address.flags
        }
    }
}

extension MACAddress {
    fileprivate var flags: [String] {
        (hasGroupBit ? ["group-bit"] : []) + (isLocallyAdministered ? ["locally-administered"] : [])
    }
}
