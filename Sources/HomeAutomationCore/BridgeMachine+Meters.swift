package import MeterModel

/// What is published about the meters.
extension BridgeMachine {
    /// Looks at all meters, publishes what changed, and lets time pass. Nothing is generated for a meter without news.
    ///
    /// - Parameters:
    ///   - seen: each meter of this host, once.
    ///   - random: random bits.
    package mutating func observed(_ seen: [BridgedMeter], at now: MonotonicTime, random: UInt64) -> [Action] {
        var actions = woke(at: now, random: random)
        switch link {
        case .closing, .stopped: return actions
        case .waiting, .opening, .open: break
        }
        for meter in seen where hasNews(meter, at: now) { actions += take(meter, at: now) }
        // All that were seen are known by now, so there can only be too many if there are more.
        if meters.count > seen.count {
            let gone = Set(meters.keys).subtracting(seen.map(\.id))
            for id in gone.sorted() { actions += remove(id) }
        }
        requestsLeft = Self.requestsPerTick
        if ignoredRequests > 0 {
            actions.append(.tell(.requestsIgnored(ignoredRequests)))
            ignoredRequests = 0
        }
        // One line when it begins; the number follows with the next connection.
        if !hasToldOverflow, outbox.backlog.dropped > droppedBefore {
            hasToldOverflow = true
            actions.append(.tell(.backlogFull))
        }
        return actions + send(at: now)
    }

    /// Whether there is, or may be, something to publish. The link does not matter here: `announceAll` publishes
    /// everything about the meters as last seen.
    private func hasNews(_ meter: BridgedMeter, at now: MonotonicTime) -> Bool {
        guard let entry = meters[meter.id], entry.meter.isSame(as: meter) else { return true }
        if let due = entry.refreshAt, due <= now { return true }
        guard let reading = meter.reading else { return false }
        return !reading.reading.supported.isSubset(of: entry.quantities) || entry.isDue(reading, of: meter, at: now)
    }

    private mutating func take(_ meter: BridgedMeter, at now: MonotonicTime) -> [Action] {
        var entry = meters[meter.id] ?? Entry(meter: meter)
        entry.meter = meter
        if let reading = meter.reading { entry.quantities.formUnion(reading.reading.supported) }
        defer { meters[meter.id] = entry }
        // A meter that somebody let go stays announced, so that it can be connected again from there.
        guard !meter.isElsewhere, meter.isWanted || entry.wasAnnounced else {
            return entry.isOurs ? yield(&entry) : []
        }
        entry.isOurs = true
        let actions = isConnected ? tell(&entry, at: now) : []
        takeReading(&entry, at: now)
        return actions
    }

    /// Publishes whatever differs from what was published before.
    private mutating func tell(_ entry: inout Entry, at now: MonotonicTime) -> [Action] {
        let (meter, topics, wasAnnounced) = (entry.meter, settings.topics, entry.wasAnnounced)
        // Before the first reading it is unknown what the meter measures: what the broker kept from an earlier run is
        // better.
        if !entry.quantities.isEmpty {
            let facts = DeviceDiscovery.Facts(meter, entry.quantities)
            if entry.announced != facts {
                outbox.put(discovery.announcement(of: meter, quantities: entry.quantities))
                payloadsMade += 1
            }
            entry.announced = facts
            entry.wasAnnounced = true
        }
        // A host that let go of the meter may have published its last message after our first.
        if let due = entry.refreshAt, due <= now {
            (entry.status, entry.isOnline, entry.wasRefreshed) = (nil, nil, true)
        }
        let status = MeterPayloads.Status(meter)
        if entry.status != status {
            outbox.put(statusMessage(of: meter))
            entry.status = status
        }
        if entry.isOnline != meter.hasData {
            outbox.put(
                BrokerMessage(
                    topics.availability(meter.id), Availability(meter.hasData).rawValue, isRetained: true))
            entry.isOnline = meter.hasData
            entry.refreshAt = now + (entry.wasRefreshed ? settings.refreshInterval : settings.firstRefresh)
        }
        return entry.wasAnnounced && !wasAnnounced ? [.tell(.announced(meter.id))] : []
    }

    /// Takes the meter's reading if one is due: for the broker, or for the backlog without one.
    private mutating func takeReading(_ entry: inout Entry, at now: MonotonicTime) {
        guard let reading = entry.meter.reading, entry.isDue(reading, of: entry.meter, at: now) else { return }
        entry.takenAt = reading.time
        entry.nextReadingAt = now + settings.interval
        let payload = MeterPayloads.state(reading)
        payloadsMade += 1
        entry.state = payload
        readingNumber += 1
        let kept = Backlog.Entry(
            number: readingNumber, message: BrokerMessage(settings.topics.backlog(entry.meter.id), payload))
        guard isConnected else { return outbox.backlog.add(kept) }
        outbox.put(
            BrokerMessage(settings.topics.state(entry.meter.id), payload, isRetained: true), .reading(kept))
    }

    /// Another host has the meter now. This host publishes its last message, which the other one's first overrides.
    private mutating func yield(_ entry: inout Entry) -> [Action] {
        let meter = entry.meter
        entry.isOurs = false
        forget(&entry)
        guard isConnected else { return [] }
        outbox.put(statusMessage(of: meter))
        outbox.put(
            BrokerMessage(
                settings.topics.availability(meter.id), Availability.offline.rawValue, isRetained: true))
        return [.tell(.yielded(meter.id, holder: meter.holder))]
    }

    /// The meter is no longer this host's, such as one that turned out to be another's second address.
    private mutating func remove(_ id: MeterID) -> [Action] {
        guard let entry = meters.removeValue(forKey: id), entry.isOurs else { return [] }
        guard isConnected else { return [] }
        empty(id)
        return [.tell(.removed(id))]
    }

    /// Clears what the broker keeps about a meter.
    private mutating func empty(_ id: MeterID) {
        outbox.put(discovery.removal(of: id))
        for topic in [settings.topics.state(id), settings.topics.status(id), settings.topics.availability(id)] {
            outbox.put(BrokerMessage(topic, [], isRetained: true))
        }
    }

    /// Clears former meters' topics, once in each run: nothing is published there any more.
    mutating func emptyFormer() -> [Action] {
        guard !hasEmptiedFormer else { return [] }
        hasEmptiedFormer = true
        for id in settings.formerMeters where meters[id] == nil { empty(id) }
        return []
    }

    private mutating func statusMessage(of meter: BridgedMeter) -> BrokerMessage {
        payloadsMade += 1
        return BrokerMessage(
            settings.topics.status(meter.id), MeterPayloads.Status(meter).bytes(gateway: settings.topics.gateway),
            isRetained: true)
    }

    private func forget(_ entry: inout Entry) {
        (entry.announced, entry.status, entry.isOnline, entry.refreshAt) = (nil, nil, nil, nil)
        entry.wasRefreshed = false
    }

    /// Publishes everything again: to a broker that may have lost it, or for a Home Assistant that has.
    mutating func announceAll(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for id in meters.keys.sorted() {
            guard var entry = meters[id], entry.isOurs else { continue }
            forget(&entry)
            actions += tell(&entry, at: now)
            if let state = entry.state {
                outbox.put(BrokerMessage(settings.topics.state(id), state, isRetained: true))
            }
            meters[id] = entry
        }
        return actions
    }
}

extension BridgeMachine.Entry {
    /// Whether the reading is new, and it is time for one.
    fileprivate func isDue(_ reading: TimedReading, of meter: BridgedMeter, at now: MonotonicTime) -> Bool {
        guard meter.hasData, reading.time != takenAt else { return false }
        return nextReadingAt.map { $0 <= now } ?? true
    }
}
