/// Messages waiting to be sent or acknowledged. For each topic, only the latest state or reading waits. A reading that
/// is replaced or not acknowledged moves to the backlog.
struct Outbox: Sendable {
    /// Purpose of a message, which decides its handling if it cannot be sent.
    enum Purpose: Hashable, Sendable {
        case latest
        /// A reading: waits like `latest`, but moves to the backlog if it cannot be sent.
        case reading(Backlog.Entry)
        /// A response or a user's mark. Dropped if it cannot be sent, because it would be useless later.
        case response
        case backlog(Backlog.Entry)
    }

    private struct Sent: Sendable {
        var purpose: Purpose
        var topic: String
        var at: MonotonicTime
    }

    /// Maximum number of unacknowledged messages. Brokers accept at least 20 by default.
    static let windowSize = 20
    static let responsesMax = 32

    private var waiting: [String: (message: BrokerMessage, purpose: Purpose)] = [:]
    private var order: [String] = []
    private var responses: [BrokerMessage] = []
    private var sent: [PacketNumber: Sent] = [:]
    private var nextNumber: PacketNumber = 1
    private var backlog: Backlog
    private var responsesDropped = 0
    private(set) var confirmedCount = 0
    private(set) var refusedCount = 0
    /// Readings dropped before the link last came up.
    private var lostBefore = 0
    private var hasToldOverflow = false

    init(backlog: Backlog.Limits) { self.backlog = Backlog(limits: backlog) }

    /// All messages, including those sent and not acknowledged.
    var count: Int { waiting.count + responses.count + sent.count + backlog.count }
    var backlogCount: Int { backlog.count }
    var readingsDropped: Int { backlog.dropped }
    var droppedCount: Int { backlog.dropped + responsesDropped }

    // MARK: Sending

    mutating func put(_ message: BrokerMessage, _ purpose: Purpose = .latest) {
        if case .response = purpose {
            guard responses.count < Self.responsesMax else {
                responsesDropped += 1
                return
            }
            responses.append(message)
            return
        }
        let displaced = waiting.updateValue((message, purpose), forKey: message.topic)
        guard let displaced else {
            order.append(message.topic)
            return
        }
        keep(displaced.purpose)
    }

    mutating func keep(_ reading: Backlog.Entry) { backlog.add(reading) }

    /// Nil if no message waits or the window is full.
    mutating func next(at now: MonotonicTime) -> (PacketNumber, BrokerMessage)? {
        guard sent.count < Self.windowSize, let (message, purpose) = take() else { return nil }
        let number = nextNumber
        nextNumber += 1
        sent[number] = Sent(purpose: purpose, topic: message.topic, at: now)
        return (number, message)
    }

    private mutating func take() -> (BrokerMessage, Purpose)? {
        if !responses.isEmpty { return (responses.removeFirst(), .response) }
        if !order.isEmpty, let next = waiting.removeValue(forKey: order.removeFirst()) {
            return (next.message, next.purpose)
        }
        return backlog.next().map { ($0.message, .backlog($0)) }
    }

    /// A refused message is not sent again, because the broker would refuse it again.
    ///
    /// - Returns: the message's topic; nil if `number` is unknown.
    mutating func acknowledged(_ number: PacketNumber, isRefused: Bool) -> String? {
        guard let message = sent.removeValue(forKey: number) else { return nil }
        if isRefused { refusedCount += 1 } else { confirmedCount += 1 }
        return message.topic
    }

    var oldestSent: MonotonicTime? { sent.values.map(\.at).min() }

    // MARK: The link

    mutating func linkOpened() { (lostBefore, hasToldOverflow) = (backlog.dropped, false) }

    /// Moves unacknowledged readings to the backlog. Drops responses and marks; other messages are published again
    /// later.
    mutating func linkLost() {
        for purpose in sent.values.map(\.purpose) + waiting.values.map(\.purpose) { keep(purpose) }
        sent = [:]
        waiting = [:]
        order = []
        responses = []
    }

    /// Returns whether readings have been dropped since the link came up; true only once per link.
    mutating func beginsToOverflow() -> Bool {
        guard !hasToldOverflow, backlog.dropped > lostBefore else { return false }
        hasToldOverflow = true
        return true
    }

    private mutating func keep(_ purpose: Purpose) {
        switch purpose {
        case .reading(let entry), .backlog(let entry): backlog.add(entry)
        case .latest, .response: break
        }
    }
}
