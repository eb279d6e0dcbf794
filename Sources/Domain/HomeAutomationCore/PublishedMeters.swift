struct PublishedMeters: Sendable {
    private var meters: [MeterID: PublishedMeter] = [:]
    private var messages: MeterMessages
    private var hasClearedFormer = false

    init(_ settings: BridgeMachine.Settings) { messages = MeterMessages(settings) }

    var payloadsMade: Int { messages.payloadsMade }

    func id(ofKey key: String) -> MeterID? { meters.keys.first { $0.topicKey == key } }

    /// Queues messages for changed and removed meters. Unchanged ones are not encoded.
    mutating func observed(
        _ seen: [BridgedMeter], at now: MonotonicTime, isConnected: Bool, to outbox: inout Outbox
    ) -> [BridgeMachine.Notice] {
        var notices: [BridgeMachine.Notice] = []
        for meter in seen where meters[meter.id]?.hasNews(in: meter, at: now) ?? true {
            let notice = meters[meter.id, default: PublishedMeter(meter)].observed(
                meter, at: now, isConnected: isConnected, &messages, to: &outbox)
            if let notice { notices.append(notice) }
        }
        // `meters` includes all of `seen` by now, so a larger count means that some were removed.
        if meters.count > seen.count {
            let gone = Set(meters.keys).subtracting(seen.map(\.id))
            notices += gone.sorted().compactMap { remove($0, isConnected: isConnected, from: &outbox) }
        }
        return notices
    }

    /// Removes a meter that no longer exists, for example because its id turned out to be another meter's second
    /// address.
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

    mutating func announceAll(at now: MonotonicTime, to outbox: inout Outbox) -> [BridgeMachine.Notice] {
        var notices: [BridgeMachine.Notice] = []
        for id in meters.keys.sorted() where meters[id]?.isOurs == true {
            if let notice = meters[id]?.announce(at: now, &messages, to: &outbox) { notices.append(notice) }
        }
        return notices
    }

    /// Clears the retained messages of former meter ids, once after the program's start.
    mutating func clearFormer(in outbox: inout Outbox) {
        guard !hasClearedFormer else { return }
        hasClearedFormer = true
        for id in messages.settings.formerMeters where meters[id] == nil { clear(id, in: &outbox) }
    }
}
