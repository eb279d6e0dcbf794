struct PublishedMeter: Sendable {
    /// Last published values. Nil values cause a new publication.
    private struct Told: Sendable {
        var announcement: DeviceDiscovery.Facts?
        var status: MeterPayloads.Status?
        var isOnline: Bool?
        /// When to publish status and availability again.
        var refreshAt: MonotonicTime?
        /// Whether that happened since the announcement.
        var wasRefreshed = false
    }

    private var meter: BridgedMeter
    /// Quantities reported in this run.
    private var quantities = QuantitySet()
    /// Other telemetry seen in this run.
    private var toldKinds: [String: TelemetryKind] = [:]
    /// Whether this gateway publishes the meter.
    private(set) var isOurs = false
    /// Whether this run announced the entities.
    private var wasAnnounced = false
    private var told = Told()
    /// Time of the last reading taken.
    private var takenAt: MonotonicTime?
    private var nextReadingAt: MonotonicTime?
    private var state: [UInt8]?

    init(_ meter: BridgedMeter) { self.meter = meter }

    /// Whether there may be something to publish, with or without a link: `announce` publishes everything as last seen.
    func hasNews(in seen: BridgedMeter, at now: MonotonicTime) -> Bool {
        guard meter.isSame(as: seen) else { return true }
        if let due = told.refreshAt, due <= now { return true }
        guard let reading = seen.reading else { return false }
        return !reading.reading.supported.isSubset(of: quantities) || isDue(reading, at: now)
            || seen.told?.details.contains { toldKinds[$0.key] == nil } ?? false
    }

    /// - Parameter isConnected: whether there is a link. Only readings are kept without one.
    mutating func observed(
        _ seen: BridgedMeter, at now: MonotonicTime, isConnected: Bool, _ messages: inout MeterMessages,
        to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        meter = seen
        if let reading = seen.reading { quantities.formUnion(reading.reading.supported) }
        for (key, value) in seen.told?.details ?? [:] {
            // A value that was known once keeps its kind.
            if let kind = TelemetryKind(value) {
                toldKinds[key] = kind
            } else if toldKinds[key] == nil {
                toldKinds[key] = .text
            }
        }
        // A disconnected meter stays announced, so that users can connect it again from Home Assistant.
        guard !meter.isElsewhere, meter.isWanted || wasAnnounced else {
            return isOurs ? yield(isConnected: isConnected, &messages, to: &outbox) : nil
        }
        isOurs = true
        let notice = isConnected ? tell(at: now, &messages, to: &outbox) : nil
        takeReading(at: now, isConnected: isConnected, &messages, to: &outbox)
        return notice
    }

    /// Publishes everything again, after the broker or Home Assistant may have lost it.
    mutating func announce(
        at now: MonotonicTime, _ messages: inout MeterMessages, to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        told = Told()
        let notice = tell(at: now, &messages, to: &outbox)
        if let state { outbox.put(messages.state(of: meter.id, state)) }
        return notice
    }

    private mutating func tell(
        at now: MonotonicTime, _ messages: inout MeterMessages, to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        let isFirst = !wasAnnounced
        // The broker's copy from an earlier run is better until the first reading tells the quantities.
        if !quantities.isEmpty {
            let facts = DeviceDiscovery.Facts(meter, quantities, toldKinds)
            if told.announcement != facts {
                outbox.put(messages.announcement(of: meter, quantities: quantities, told: toldKinds))
            }
            told.announcement = facts
            wasAnnounced = true
        }
        // The meter's former host may have published its last message after our first.
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

    /// For the broker or, without a link, for the backlog.
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

    private func isDue(_ reading: TimedReading, at now: MonotonicTime) -> Bool {
        guard meter.hasData, reading.time != takenAt else { return false }
        return nextReadingAt.map { $0 <= now } ?? true
    }

    /// Publishes a last message, which the new host's first one overrides.
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
