package import Domain
package import GatewayAPI
package import MeterCodec

extension DeviceSession {
    var machine: ConnectionMachine { states.machine }
    var stateSince: WallTime { states.since }
    var lastError: String? { states.lastError }
    var links: LinkChoice { line.links }
    var link: LinkAddress? { line.link }
    var isLinkUp: Bool { line.isUp }
    var isLinked: Bool { line.exchange != nil }
    var model: ModelName? { line.model }
    var device: DeviceInfo? { line.device }
    var settings: MeterSettings { talk.settings }
    var expectedInterval: Duration? { talk.expectedInterval }
    var counted: EnergyCount? { line.driver == nil ? nil : talk.readings.counted }
    var refusal: LinkRefusal? { claim.refusal }
    var isBarred: Bool { claim.isBarred }
    var leaseStatus: LeaseStatus? { claim.lease }
    var hasTwin: Bool { isPresent && claim.hasTwin(over: line.leaseTransport) }
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
        let reading = wholeReading(at: now)
        if let reading {
            status.reading = ReadingBody(reading.reading)
            // A sample's time is adjusted towards the host's clock and may be slightly ahead of it.
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
        status.counted = counted.flatMap { CountedBody($0, of: reading?.reading) }
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
        // Only the vendor-specific USB interface (`bulk`) has been seen to deliver sample queues
        // (Docs/Protocols/KM003C.md#link).
        let isElsewhere = link?.transport == .serial && links.inOrder.contains { $0.transport == .bulk }
        let next = isElsewhere ? "; meterctl connect \(id) --over bulk uses the maker's interface" : ""
        return SamplingBody(
            wanted: wanted, rate: talk.readings.sampling.rate, error: talk.readings.sampling.failure.map { $0 + next })
    }

    /// Returns the USB PD events on the CC line since meterd started, and whether this host receives new ones.
    ///
    /// - Throws: `refused` for a model that cannot receive them; `held` if another host has the meter and this host has
    ///   received none.
    package func heardPD() throws(GatewayError) -> (timeline: PDTimeline, isListening: Bool) {
        guard line.hearsPD else {
            let those = catalogue.modelsHearingPD.map(\.displayName).joined(separator: ", ")
            throw GatewayError(
                .refused,
                "\(id), \(model.map { "a \($0.displayName)" } ?? "of unknown model"), cannot hear USB Power Delivery",
                next: "models that can: \(those)")
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

    /// Returns the state of an electronic load; nil for other meters, and unless data is available.
    func loadView() -> LoadView? { machine.state == .dataAvailable ? LoadView(told()) : nil }

    /// - Parameter all: whether to return every single sample of a fast meter.
    package nonisolated func feed(ofAll all: Bool) -> Feed<TimedReading> { all ? samples : readings }

    /// Returns data that the meter sends besides readings, such as its charging mode.
    package func told() -> TelemetryBody? {
        guard var body = talk.readings.told.body else { return nil }
        // The last frame before the supply ended still names it.
        if !line.isSupplying { body.details[PPK2Window.sourceKey] = nil }
        return body == TelemetryBody() ? nil : body
    }

    /// Returns the last reading, completed with fresh values from the meter's other kinds of frame.
    func wholeReading(at now: MonotonicTime) -> TimedReading? {
        guard var whole = talk.readings.latest.whole(at: now, staleAfter: machine.timing.staleAfter) else { return nil }
        // meterd's energy count may have been reset since this reading, so use the present count.
        if !whole.reading.supported.isDisjoint(with: QuantitySet(.countedEnergy, .countedCharge)) {
            counted?.put(into: &whole.reading)
        }
        return whole
    }

    /// The last reading as alerts get it; nil without data.
    var lastReading: Reading? {
        machine.state == .dataAvailable ? wholeReading(at: loop.now)?.reading.withTotals : nil
    }

    /// Returns the entry in a scan; nil while the meter is absent.
    package func scanEntry() -> ScanEntry? {
        guard machine.isPresent, let link, link.transport != .computed else { return nil }
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

    var transports: [String] {
        var kinds: [LinkAddress.Transport] = []
        for link in links.inOrder where !kinds.contains(link.transport) { kinds.append(link.transport) }
        return kinds.map(\.rawValue)
    }

    package var displayName: String? { settings.name ?? deviceName }

    package nonisolated var now: MonotonicTime { loop.now }

    var knownModel: ModelName? { model }

    var shownModel: ModelName? { device?.model ?? model }

    /// Whether the model is known, or can be detected once the meter is present.
    var canBeRead: Bool { model != nil || (link?.isRadio ?? !id.isLocalOnly) }

    var isPresent: Bool { machine.isPresent }

    var isComputed: Bool { lastTransport == .computed }

    var isPasserBy: Bool { model == nil && !machine.isWanted && links.isEmpty }

    package var profile: MeterProfile? { line.profile }
}

extension CountedBody {
    /// - Parameter last: the meter's last reading, which shows what it can measure. Without one, 0 counts as unknown.
    fileprivate init?(_ count: EnergyCount, of last: Reading?) {
        guard let since = count.since else { return nil }
        var rounded = last ?? Reading()
        count.put(into: &rounded)
        func known(_ quantity: Quantity) -> Double? { rounded[quantity].flatMap { last == nil && $0 == 0 ? nil : $0 } }
        self.init(
            energy_Wh: known(.countedEnergy), charge_mAh: known(.countedCharge),
            since: since.description, counted_ms: Int64(min(count.seconds * 1000, 1e15)))
    }
}

extension LinkAddress {
    /// Unusual bits of a public address; empty for a random one, in which any bit may be set.
    fileprivate var addressFlags: [String] {
        switch self {
        case .serial, .hid, .bulk, .network, .computed: []
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
