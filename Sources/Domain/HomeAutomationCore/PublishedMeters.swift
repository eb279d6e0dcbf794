/// All meters of this host as they are published, and ids that they had before.
struct PublishedMeters: Sendable {
    private var meters: [MeterID: PublishedMeter] = [:]
    private var messages: MeterMessages
    private var hasClearedFormer = false

    init(_ settings: BridgeMachine.Settings) { messages = MeterMessages(settings) }

    /// Number of announcements, readings and statuses encoded since the start.
    var payloadsMade: Int { messages.payloadsMade }

    /// The meter that is named so in topics.
    func id(ofKey key: String) -> MeterID? { meters.keys.first { $0.topicKey == key } }

    /// Publishes what changed. Nothing is generated for a meter without news.
    ///
    /// - Parameter seen: each meter of this host, once.
    mutating func observed(
        _ seen: [BridgedMeter], at now: MonotonicTime, isConnected: Bool, to outbox: inout Outbox
    ) -> [BridgeMachine.Notice] {
        var notices: [BridgeMachine.Notice] = []
        for meter in seen where meters[meter.id]?.hasNews(in: meter, at: now) ?? true {
            let notice = meters[meter.id, default: PublishedMeter(meter)].observed(
                meter, at: now, isConnected: isConnected, &messages, to: &outbox)
            if let notice { notices.append(notice) }
        }
        // All that were seen are known by now, so there can only be too many if there are more.
        if meters.count > seen.count {
            let gone = Set(meters.keys).subtracting(seen.map(\.id))
            notices += gone.sorted().compactMap { remove($0, isConnected: isConnected, from: &outbox) }
        }
        return notices
    }

    /// The meter is no longer this host's, such as one that turned out to be another's second address.
    private mutating func remove(
        _ id: MeterID, isConnected: Bool, from outbox: inout Outbox
    ) -> BridgeMachine.Notice? {
        guard let meter = meters.removeValue(forKey: id), meter.isOurs, isConnected else { return nil }
        clear(id, in: &outbox)
        return .removed(id)
    }

    private func clear(_ id: MeterID, in outbox: inout Outbox) {
        for message in messages.removal(of: id) { outbox.put(message) }
    }

    /// Publishes everything again: to a broker that may have lost it, or for a Home Assistant that has.
    mutating func announceAll(at now: MonotonicTime, to outbox: inout Outbox) -> [BridgeMachine.Notice] {
        var notices: [BridgeMachine.Notice] = []
        for id in meters.keys.sorted() where meters[id]?.isOurs == true {
            if let notice = meters[id]?.announce(at: now, &messages, to: &outbox) { notices.append(notice) }
        }
        return notices
    }

    /// Clears former meters' topics, once in each run: nothing is published there any more.
    mutating func clearFormer(in outbox: inout Outbox) {
        guard !hasClearedFormer else { return }
        hasClearedFormer = true
        for id in messages.settings.formerMeters where meters[id] == nil { clear(id, in: &outbox) }
    }
}
