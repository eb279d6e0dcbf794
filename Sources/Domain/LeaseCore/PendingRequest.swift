enum PendingRequest: Sendable {
    /// The request counts as failed after `until`.
    case inFlight(until: MonotonicTime)
    case waiting(until: MonotonicTime)

    static func sent(at now: MonotonicTime) -> Self { .inFlight(until: now + LeaseTiming.answerTimeout) }

    enum Due {
        case sending
        case failure
    }

    func due(at now: MonotonicTime) -> Due? {
        switch self {
        case .waiting(let until): now >= until ? .sending : nil
        case .inFlight(let until): now >= until ? .failure : nil
        }
    }

    var time: MonotonicTime {
        switch self {
        case .inFlight(let until), .waiting(let until): until
        }
    }

    var isInFlight: Bool { if case .inFlight = self { true } else { false } }

    mutating func hasten(to soon: MonotonicTime) {
        if case .waiting(let until) = self { self = .waiting(until: min(until, soon)) }
    }
}
