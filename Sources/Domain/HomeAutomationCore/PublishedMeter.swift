/// One meter at the broker: what it was told, and when it hears of the meter again.
struct PublishedMeter: Sendable {
    /// What was published, so that only changes are. As in the beginning if everything must be published again.
    private struct Told: Sendable {
        var announcement: DeviceDiscovery.Facts?
        var status: MeterPayloads.Status?
        var isOnline: Bool?
        /// When to publish status and availability again.
        var refreshAt: MonotonicTime?
        /// Whether they were published again since the announcement.
        var wasRefreshed = false
    }

    private var meter: BridgedMeter
    /// All quantities that it has reported in this run.
    private var quantities = QuantitySet()
    /// All that it has told besides, in this run.
    private var toldKinds: [String: ToldKind] = [:]
    /// Whether this gateway publishes it.
    private(set) var isOurs = false
    /// Whether this run ever announced its entities.
    private var wasAnnounced = false
    private var told = Told()
    /// The time of the last reading taken.
    private var takenAt: MonotonicTime?
    /// The earliest time of the next reading.
    private var nextReadingAt: MonotonicTime?
    /// The payload of the last reading.
    private var state: [UInt8]?

    init(_ meter: BridgedMeter) { self.meter = meter }

    /// Whether there is, or may be, something to publish. The link does not matter here: `announce` publishes everything
    /// about the meter as last seen.
    func hasNews(in seen: BridgedMeter, at now: MonotonicTime) -> Bool {
        guard meter.isSame(as: seen) else { return true }
        if let due = told.refreshAt, due <= now { return true }
        guard let reading = seen.reading else { return false }
        return !reading.reading.supported.isSubset(of: quantities) || isDue(reading, at: now)
            || seen.told?.details.contains { toldKinds[$0.key] == nil } ?? false
    }

    /// The meter was seen, and may have news.
    ///
    /// - Parameter isConnected: whether there is a link. Readings are kept without one; everything else is not.
    mutating func observed(
        _ seen: BridgedMeter, at now: MonotonicTime, isConnected: Bool, _ messages: inout MeterMessages,
        to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        meter = seen
        if let reading = seen.reading { quantities.formUnion(reading.reading.supported) }
        for (key, value) in seen.told?.details ?? [:] {
            // A value that was known once has its kind for good.
            if let kind = ToldKind(value) {
                toldKinds[key] = kind
            } else if toldKinds[key] == nil {
                toldKinds[key] = .text
            }
        }
        // A meter that somebody let go stays announced, so that it can be connected again from there.
        guard !meter.isElsewhere, meter.isWanted || wasAnnounced else {
            return isOurs ? yield(isConnected: isConnected, &messages, to: &outbox) : nil
        }
        isOurs = true
        let notice = isConnected ? tell(at: now, &messages, to: &outbox) : nil
        takeReading(at: now, isConnected: isConnected, &messages, to: &outbox)
        return notice
    }

    /// Publishes everything again: to a broker that may have lost it, or for a Home Assistant that has.
    mutating func announce(
        at now: MonotonicTime, _ messages: inout MeterMessages, to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        told = Told()
        let notice = tell(at: now, &messages, to: &outbox)
        if let state { outbox.put(messages.state(of: meter.id, state)) }
        return notice
    }

    /// Publishes whatever differs from what was published before.
    private mutating func tell(
        at now: MonotonicTime, _ messages: inout MeterMessages, to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        let isFirst = !wasAnnounced
        // Before the first reading it is unknown what the meter measures: what the broker kept from an earlier run is
        // better.
        if !quantities.isEmpty {
            let facts = DeviceDiscovery.Facts(meter, quantities, toldKinds)
            if told.announcement != facts {
                outbox.put(messages.announcement(of: meter, quantities: quantities, told: toldKinds))
            }
            told.announcement = facts
            wasAnnounced = true
        }
        // A host that let go of the meter may have published its last message after our first.
        if let due = told.refreshAt, due <= now { (told.status, told.isOnline, told.wasRefreshed) = (nil, nil, true) }
        let status = MeterPayloads.Status(meter)
        if told.status != status {
            outbox.put(messages.status(of: meter))
            told.status = status
        }
        if told.isOnline != meter.hasData {
            outbox.put(messages.availability(of: meter.id, isOnline: meter.hasData))
            told.isOnline = meter.hasData
            let settings = messages.settings
            told.refreshAt = now + (told.wasRefreshed ? settings.refreshInterval : settings.firstRefresh)
        }
        return wasAnnounced && isFirst ? .announced(meter.id) : nil
    }

    /// Takes the meter's reading if one is due: for the broker, or for the backlog without one.
    private mutating func takeReading(
        at now: MonotonicTime, isConnected: Bool, _ messages: inout MeterMessages, to outbox: inout Outbox
    ) {
        guard let reading = meter.reading, isDue(reading, at: now) else { return }
        takenAt = reading.time
        nextReadingAt = now + messages.settings.interval
        let payload = messages.payload(of: reading, countedSince: meter.countedSince, told: meter.told)
        state = payload
        let late = messages.late(meter.id, payload)
        guard isConnected else { return outbox.keep(late) }
        outbox.put(messages.state(of: meter.id, payload), .reading(late))
    }

    /// Whether the reading is new, and it is time for one.
    private func isDue(_ reading: TimedReading, at now: MonotonicTime) -> Bool {
        guard meter.hasData, reading.time != takenAt else { return false }
        return nextReadingAt.map { $0 <= now } ?? true
    }

    /// Another host has the meter now. This host publishes its last message, which the other one's first overrides.
    private mutating func yield(
        isConnected: Bool, _ messages: inout MeterMessages, to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        isOurs = false
        told = Told()
        guard isConnected else { return nil }
        outbox.put(messages.status(of: meter))
        outbox.put(messages.availability(of: meter.id, isOnline: false))
        return .yielded(meter.id, holder: meter.holder)
    }
}
