/// Result of a rule, to be stored and answered in one transaction.
package struct LeaseDecision<Answer: Sendable>: Sendable {
    /// Nil leaves the stored record unchanged.
    package var record: LeaseRecord?
    package var answer: Answer

    package init(record: LeaseRecord?, answer: Answer) {
        self.record = record
        self.answer = answer
    }
}

extension LeaseDecision: Equatable where Answer: Equatable {}

/// Answer to a release or a revocation. Repeating either changes nothing.
package enum LeaseChange: Hashable, Sendable {
    case changed(LeaseRecord)
    /// The lease was in that state already, or is not the caller's. Nil if the meter never had a lease.
    case unchanged(LeaseRecord?)

    package var record: LeaseRecord? {
        switch self {
        case .changed(let record): record
        case .unchanged(let record): record
        }
    }
}
