import MeterModel

/// What waits to be sent, and what was sent and not acknowledged yet: never more than a window of it, so that a broker
/// that takes nothing makes nothing grow.
///
/// Of each topic that tells how things are, only the latest message waits. A reading that is displaced so, or whose
/// delivery nobody confirmed, goes to the backlog.
struct Outbox: Sendable {
    /// What a message is, and with it what becomes of it when it cannot be sent.
    enum Purpose: Hashable, Sendable {
        /// How things are: only the latest counts.
        case latest
        /// As `latest`, and a reading that is kept: what goes to the backlog.
        case reading(Backlog.Entry)
        /// The answer to a request: of no use later.
        case response
        /// From the backlog.
        case backlog(Backlog.Entry)
    }

    struct Sent: Sendable {
        var purpose: Purpose
        var topic: String
        var at: MonotonicTime
    }

    /// How many messages may be on their way at once. Brokers take at least 20 by default.
    static let windowSize = 20
    /// How many responses may wait.
    static let responsesMax = 32

    private var waiting: [String: (message: BrokerMessage, purpose: Purpose)] = [:]
    /// The topics of those, first come first.
    private var order: [String] = []
    private var responses: [BrokerMessage] = []
    private(set) var sent: [PacketNumber: Sent] = [:]
    private var nextNumber: PacketNumber = 1
    var backlog: Backlog
    private(set) var responsesDropped = 0

    init(backlog: Backlog) { self.backlog = backlog }

    /// All that is kept here, sent and unconfirmed too.
    var count: Int { waiting.count + responses.count + sent.count + backlog.count }

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

    /// The next message that may go, with the number under which it is acknowledged. nil means nothing waits, or the
    /// window is full.
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

    /// The broker has it, or refused it, which would not go better a second time.
    mutating func acknowledged(_ number: PacketNumber) -> Sent? { sent.removeValue(forKey: number) }

    /// When the message that waits longest for its acknowledgement was sent.
    var oldestSent: MonotonicTime? { sent.values.map(\.at).min() }

    /// The link is gone: what nobody confirmed is kept where it is a reading, and is told anew later where it is not.
    mutating func linkLost() {
        for purpose in sent.values.map(\.purpose) + waiting.values.map(\.purpose) { keep(purpose) }
        sent = [:]
        waiting = [:]
        order = []
        responses = []
    }

    private mutating func keep(_ purpose: Purpose) {
        switch purpose {
        case .reading(let entry), .backlog(let entry): backlog.add(entry)
        case .latest, .response: break
        }
    }
}
