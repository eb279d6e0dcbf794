package import Domain

/// Those who wait for a meter: for its data, or for permission to use a link to it.
struct SessionWaits {
    enum Goal { case data, permission }

    private var waiting: [UInt64: (goal: Goal, outcome: CheckedContinuation<DeviceSession.DataWait, Never>)] = [:]
    private var nextID: UInt64 = 0

    /// The number of the next wait, for the timer that ends it.
    mutating func number() -> UInt64 {
        nextID += 1
        return nextID
    }

    mutating func add(
        _ number: UInt64, for goal: Goal, _ outcome: CheckedContinuation<DeviceSession.DataWait, Never>
    ) {
        waiting[number] = (goal, outcome)
    }

    /// Harmless for a wait that has already ended.
    mutating func end(_ number: UInt64, with outcome: DeviceSession.DataWait) {
        waiting.removeValue(forKey: number)?.outcome.resume(returning: outcome)
    }

    /// - Parameter goal: the waits to end; without it, all of them.
    mutating func endAll(with outcome: DeviceSession.DataWait, of goal: Goal? = nil) {
        for (number, waiter) in waiting.sorted(by: { $0.key < $1.key }) where goal == nil || goal == waiter.goal {
            end(number, with: outcome)
        }
    }
}

extension DeviceSession {
    /// How a wait ended.
    package enum DataWait: Hashable, Sendable {
        case data
        /// A link may be used, or is.
        case permitted
        case timedOut
        case disconnected
        /// Another host has the meter, and nobody here stands in line for it.
        case elsewhere(LinkRefusal)
        /// This host may only look, and its zone is `strict`.
        case barred
        /// The system does not let this program open the link. Waiting would not change that.
        case forbidden(ChannelFailure)
        /// The meter was granted, but not heard here in this time. The lease was given back.
        case notHeard(Duration)
        /// The cloud does not answer, so who has a meter that is not here is unknown.
        case unanswered
        case shuttingDown
    }
}
