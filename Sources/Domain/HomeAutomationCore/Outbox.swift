/// Messages waiting to be sent, and those sent but not acknowledged yet: at most a window of those, so that nothing
/// grows if the broker accepts nothing.
///
/// For a topic that holds a state, only the latest message waits. A reading that is displaced, or whose delivery was
/// not confirmed, goes to the backlog.
struct Outbox: Sendable {
    /// The kind of message, which decides what becomes of it if it cannot be sent.
    enum Purpose: Hashable, Sendable {
        /// A state: only the latest counts.
        case latest
        /// As `latest`, with a reading that is kept: the entry for the backlog.
        case reading(Backlog.Entry)
        /// The answer to a request, or a mark: of no use later.
        case response
        /// A reading from the backlog.
        case backlog(Backlog.Entry)
    }

    private struct Sent: Sendable {
        var purpose: Purpose
        var topic: String
        var at: MonotonicTime
    }

    /// Most messages in flight. Brokers accept at least 20 by default.
    static let windowSize = 20
    /// Most responses that may wait.
    static let responsesMax = 32

    private var waiting: [String: (message: BrokerMessage, purpose: Purpose)] = [:]
    /// The topics of the waiting messages, in order.
    private var order: [String] = []
    private var responses: [BrokerMessage] = []
    private var sent: [PacketNumber: Sent] = [:]
    private var nextNumber: PacketNumber = 1
    private var backlog: Backlog
    private var responsesDropped = 0
    /// Number of messages confirmed by the broker since the start.
    private(set) var confirmedCount = 0
    /// Number of messages refused by the broker since the start.
    private(set) var refusedCount = 0
    /// Number of readings lost before the link last came up.
    private var lostBefore = 0
    private var hasToldOverflow = false

    init(backlog: Backlog.Limits) { self.backlog = Backlog(limits: backlog) }

    /// Number of messages kept here, including those sent and not confirmed.
    var count: Int { waiting.count + responses.count + sent.count + backlog.count }
    /// Number of readings waiting for the broker.
    var backlogCount: Int { backlog.count }
    /// Number of readings lost for lack of room since the start.
    var readingsDropped: Int { backlog.dropped }
    /// Number of readings and responses given up for lack of room since the start.
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

    /// A reading without a link.
    mutating func keep(_ reading: Backlog.Entry) { backlog.add(reading) }

    /// The next message that may be sent, with the number by which it is acknowledged. Nil if none waits, or the window
    /// is full.
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

    /// The broker received the message, or refused it, which it would do again.
    ///
    /// - Returns: its topic. Nil if no such message is under way.
    mutating func acknowledged(_ number: PacketNumber, isRefused: Bool) -> String? {
        guard let message = sent.removeValue(forKey: number) else { return nil }
        if isRefused { refusedCount += 1 } else { confirmedCount += 1 }
        return message.topic
    }

    /// When the message that has waited longest for its acknowledgement was sent.
    var oldestSent: MonotonicTime? { sent.values.map(\.at).min() }

    // MARK: The link

    mutating func linkOpened() { (lostBefore, hasToldOverflow) = (backlog.dropped, false) }

    /// The link is gone: unconfirmed readings are kept, and everything else is published again later.
    mutating func linkLost() {
        for purpose in sent.values.map(\.purpose) + waiting.values.map(\.purpose) { keep(purpose) }
        sent = [:]
        waiting = [:]
        order = []
        responses = []
    }

    /// Readings began to be lost since the link last came up. True once.
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
