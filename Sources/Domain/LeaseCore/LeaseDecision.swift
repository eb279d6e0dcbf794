/// What a rule decided: the record to store, and the answer.
package struct LeaseDecision<Answer: Sendable>: Sendable {
    /// The record to store. If nil, the stored one stays as it is.
    package var record: LeaseRecord?
    package var answer: Answer

    package init(record: LeaseRecord?, answer: Answer) {
        self.record = record
        self.answer = answer
    }
}

extension LeaseDecision: Equatable where Answer: Equatable {}

/// The answer to a release or a revocation: the lease afterwards. Repeating either changes nothing.
package enum LeaseChange: Hashable, Sendable {
    /// This call changed the lease.
    case changed(LeaseRecord)
    /// The lease was in that state already, or is not the caller's. Nil if there never was a lease.
    case unchanged(LeaseRecord?)

    package var record: LeaseRecord? {
        switch self {
        case .changed(let record): record
        case .unchanged(let record): record
        }
    }
}
