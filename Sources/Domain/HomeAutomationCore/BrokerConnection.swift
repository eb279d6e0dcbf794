/// State of the link to the broker, with timeouts and retries.
///
/// ```
///            open                 opened               close              acknowledged, or time is up
///  ┌─────────┐─────▶┌─────────┐───────────▶┌──────┐─────────▶┌─────────┐──────────────▶┌─────────┐
///  │ waiting │      │ opening │            │ open │          │ closing │               │ stopped │
///  └─────────┘◀─────└─────────┘            └──────┘          └─────────┘               └─────────┘
///       ▲    lost, time is up                 │ lost, nothing acknowledged
///       └─────────────────────────────────────┘
/// ```
struct BrokerConnection: Sendable {
    typealias Action = BridgeMachine.Action

    private enum State: Hashable, Sendable {
        /// Nil if the link was never started.
        case waiting(until: MonotonicTime?)
        case opening(since: MonotonicTime)
        case open(since: MonotonicTime)
        case closing(until: MonotonicTime, goodbye: PacketNumber)
        case stopped
    }

    private let settings: BridgeMachine.Settings
    private var state = State.waiting(until: nil)
    private var failures = 0
    private var lastCause: BrokerTrouble?
    /// Nil before the first loss.
    private var lostAt: MonotonicTime?
    private(set) var linksOpened = 0

    init(_ settings: BridgeMachine.Settings) { self.settings = settings }

    var isOpen: Bool { if case .open = state { true } else { false } }
    /// Whether only the acknowledgement of the last message is pending.
    var isClosing: Bool { if case .closing = state { true } else { false } }
    var isStopped: Bool { state == .stopped }
    var trouble: BrokerTrouble? { lastCause }
    /// Time since the last loss; nil if there was none.
    func outage(until now: MonotonicTime) -> Duration? { lostAt.map { now - $0 } }

    mutating func start(at now: MonotonicTime) -> [Action] {
        state == .waiting(until: nil) ? open(at: now) : []
    }

    private mutating func open(at now: MonotonicTime) -> [Action] {
        state = .opening(since: now)
        return [.open(will: settings.topics.bridgeMessage(.offline))]
    }

    /// Handles an opened link; false if no attempt was in progress.
    mutating func opened(at now: MonotonicTime) -> Bool {
        guard case .opening = state else { return false }
        state = .open(since: now)
        linksOpened += 1
        lastCause = nil
        return true
    }

    mutating func lost(_ cause: BrokerTrouble, at now: MonotonicTime, random: UInt64) -> [Action] {
        switch state {
        case .waiting, .stopped: return []
        case .closing:
            state = .stopped
            return [.finished]
        case .opening: break
        case .open(let since):
            if now - since >= settings.stableAfter { failures = 0 }
            lostAt = now
        }
        failures += 1
        let wait = pause(random: random)
        state = .waiting(until: now + wait)
        defer { lastCause = cause }
        return [.tell(.lost(cause: cause, retryIn: wait, isNew: cause != lastCause))]
    }

    /// Returns a pause that doubles up to the longest, with a jitter of a fifth, because many gateways reconnect
    /// simultaneously after a power cut.
    private func pause(random: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        let wait = min(settings.longestWait, settings.shortestWait * (1 << doublings))
        return wait * (800 + Int(random % 400)) / 1000
    }

    mutating func close(after goodbye: PacketNumber, at now: MonotonicTime) {
        state = .closing(until: now + settings.goodbyeTimeout, goodbye: goodbye)
    }

    mutating func acknowledged(_ number: PacketNumber) -> [Action] {
        guard case .closing(_, let goodbye) = state, goodbye == number else { return [] }
        state = .stopped
        return [.close, .finished]
    }

    /// Stops immediately. A closing link still waits for its last acknowledgement.
    mutating func stop() -> [Action] {
        switch state {
        case .stopped, .closing: return []
        case .waiting:
            state = .stopped
            return [.finished]
        case .opening, .open:
            state = .stopped
            return [.close, .finished]
        }
    }

    /// Handles timeouts and starts the next attempt.
    ///
    /// - Parameter oldestSent: time of the oldest unacknowledged message.
    mutating func woke(at now: MonotonicTime, random: UInt64, oldestSent: MonotonicTime?) -> [Action] {
        switch state {
        case .waiting(let until):
            guard let until, until <= now else { return [] }
            return open(at: now)
        case .opening(let since):
            guard now - since >= settings.openTimeout else { return [] }
            let seconds = settings.openTimeout.components.seconds
            let cause = BrokerTrouble(
                "the broker did not answer within \(seconds) s",
                next: "are host and port in [mqtt] url right? a firewall may swallow what is sent there")
            return [.close] + lost(cause, at: now, random: random)
        case .open:
            guard let oldestSent, now - oldestSent >= settings.answerTimeout else { return [] }
            let seconds = settings.answerTimeout.components.seconds
            let cause = BrokerTrouble(
                "the broker confirmed nothing for \(seconds) s",
                next: "it hangs, or the network does: is there anything in the broker's log?")
            return [.close] + lost(cause, at: now, random: random)
        case .closing(let until, _):
            guard until <= now else { return [] }
            state = .stopped
            return [.close, .finished]
        case .stopped:
            return []
        }
    }
}

extension BrokerTopics {
    func bridgeMessage(_ availability: Availability) -> BrokerMessage {
        BrokerMessage(bridge, availability.rawValue, isRetained: true)
    }
}
