struct PublishedMeter: Sendable {
    /// Last published values; nil to publish again.
    private struct Told: Sendable {
        var announcement: DeviceDiscovery.Facts?
        var status: MeterPayloads.Status?
        var isOnline: Bool?
        /// Time to publish status and availability again.
        var refreshAt: MonotonicTime?
        /// Whether status and availability were published again since the announcement.
        var wasRefreshed = false
    }

    private var meter: BridgedMeter
    /// Quantities received since the program started.
    private var quantities = QuantitySet()
    /// Kinds of other telemetry received since the program started, by key.
    private var toldKinds: [String: TelemetryKind] = [:]
    private(set) var isOurs = false
    /// Whether the entities were announced since the program started.
    private var wasAnnounced = false
    private var told = Told()
    /// Time of the last reading published or added to the backlog.
    private var takenAt: MonotonicTime?
    private var nextReadingAt: MonotonicTime?
    private var state: [UInt8]?

    init(_ meter: BridgedMeter) { self.meter = meter }

    /// Whether there may be something to publish. Ignores whether there is a link, because `announce` later publishes
    /// the complete last state.
    func hasNews(in seen: BridgedMeter, at now: MonotonicTime) -> Bool {
        guard meter.isSame(as: seen) else { return true }
        if let due = told.refreshAt, due <= now { return true }
        guard let reading = seen.reading else { return false }
        return !reading.reading.supported.isSubset(of: quantities) || isDue(reading, at: now)
            || seen.told?.details.contains { toldKinds[$0.key] == nil } ?? false
    }

    /// - Parameter isConnected: whether there is a link to the broker. If false, only readings are stored, in the
    ///   backlog.
    mutating func observed(
        _ seen: BridgedMeter, at now: MonotonicTime, isConnected: Bool, _ messages: inout MeterMessages,
        to outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        meter = seen
        if let reading = seen.reading { quantities.formUnion(reading.reading.supported) }
        for (key, value) in seen.told?.details ?? [:] {
            if let kind = TelemetryKind(value) {
                toldKinds[key] = kind
            } else if toldKinds[key] == nil {
                toldKinds[key] = .text
            }
        }
        // A disconnected meter remains announced, so that users can connect it again from Home Assistant.
        guard !meter.isElsewhere, meter.isWanted || wasAnnounced else {
            return isOurs ? yield(isConnected: isConnected, &messages, to: &outbox) : nil
        }
        isOurs = true
        let notice = isConnected ? tell(at: now, &messages, to: &outbox) : nil
        takeReading(at: now, isConnected: isConnected, &messages, to: &outbox)
        return notice
    }

    /// Publishes everything again, because the broker or Home Assistant may have lost its state.
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
        // Until the first reading the quantities are unknown, so announce nothing: the broker retains the earlier
        // announcement.
        if !quantities.isEmpty {
            let facts = DeviceDiscovery.Facts(meter, quantities, toldKinds)
            if told.announcement != facts {
                outbox.put(messages.announcement(of: meter, quantities: quantities, told: toldKinds))
            }
            told.announcement = facts
            wasAnnounced = true
        }
        // Publish again, because the meter's former host may have published its last message after this host's first
        // one.
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

    /// Publishes a last status, and that the meter is unavailable. The new host's first messages replace these.
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
