package import MeterModel

/// What is told of the meters.
extension BridgeMachine {
    /// Looks at all meters, tells what changed, and lets time pass. Of a meter that has nothing new nothing is made.
    ///
    /// - Parameters:
    ///   - seen: each meter of this host once.
    ///   - dice: random bits.
    package mutating func observed(_ seen: [BridgedMeter], at now: MonotonicTime, dice: UInt64) -> [Action] {
        var actions = woke(at: now, dice: dice)
        switch link {
        case .closing, .stopped: return actions
        case .waiting, .opening, .open: break
        }
        for meter in seen where hasNews(meter, at: now) { actions += take(meter, at: now) }
        // All that were seen are known by now, so that only more than those can be too many.
        if meters.count > seen.count {
            let gone = Set(meters.keys).subtracting(seen.map(\.id))
            for id in gone.sorted() { actions += remove(id) }
        }
        requestsLeft = Self.requestsPerTick
        if ignoredRequests > 0 {
            actions.append(.tell(.requestsIgnored(ignoredRequests)))
            ignoredRequests = 0
        }
        // One line when it begins; how many it were is said with the next connection.
        if !hasToldOverflow, outbox.backlog.dropped > droppedBefore {
            hasToldOverflow = true
            actions.append(.tell(.backlogFull))
        }
        return actions + send(at: now)
    }

    /// Something is to be told of it, or may be. A link that comes or goes is no matter here: `announceAll` tells
    /// everything of the meters as they were taken last.
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
        // What somebody let go stays announced, so that it can be connected again from there.
        guard !meter.isElsewhere, meter.isWanted || entry.wasAnnounced else {
            return entry.isOurs ? yield(&entry) : []
        }
        entry.isOurs = true
        let actions = isConnected ? tell(&entry, at: now) : []
        takeReading(&entry, at: now)
        return actions
    }

    /// Whatever differs from what was told.
    private mutating func tell(_ entry: inout Entry, at now: MonotonicTime) -> [Action] {
        let (meter, topics, wasAnnounced) = (entry.meter, settings.topics, entry.wasAnnounced)
        // Before its first reading nobody knows what it measures: what the broker keeps of an earlier run knows more.
        if !entry.quantities.isEmpty {
            let facts = DeviceDiscovery.Facts(meter, entry.quantities)
            if entry.announced != facts {
                outbox.put(discovery.announcement(of: meter, quantities: entry.quantities))
                payloadsMade += 1
            }
            entry.announced = facts
            entry.wasAnnounced = true
        }
        // A host that let go of the meter may have said its last word after our first.
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

    /// Takes the meter's reading where one is due: for the broker, or for the backlog while there is none.
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

    /// Another host has it now: the last word of this one, which that one's first overrules.
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

    /// It is no meter of this host's any more, as one that turned out to be another by a second address.
    private mutating func remove(_ id: MeterID) -> [Action] {
        guard let entry = meters.removeValue(forKey: id), entry.isOurs else { return [] }
        guard isConnected else { return [] }
        empty(id)
        return [.tell(.removed(id))]
    }

    /// Takes away what the broker keeps of a meter.
    private mutating func empty(_ id: MeterID) {
        outbox.put(discovery.removal(of: id))
        for topic in [settings.topics.state(id), settings.topics.status(id), settings.topics.availability(id)] {
            outbox.put(BrokerMessage(topic, [], isRetained: true))
        }
    }

    /// Once a run: nobody writes there any more.
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

    /// Tells everything anew: to a broker that may have forgotten, or to a Home Assistant that has.
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
    /// The reading is a new one, and it is time for one.
    fileprivate func isDue(_ reading: TimedReading, of meter: BridgedMeter, at now: MonotonicTime) -> Bool {
        guard meter.hasData, reading.time != takenAt else { return false }
        return nextReadingAt.map { $0 <= now } ?? true
    }
}
