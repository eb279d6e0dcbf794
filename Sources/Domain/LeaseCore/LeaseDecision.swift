/// The record to store and the answer, from the same transaction.
package struct LeaseDecision<Answer: Sendable>: Sendable {
    /// Nil if the stored record does not change.
    package var record: LeaseRecord?
    package var answer: Answer

    package init(record: LeaseRecord?, answer: Answer) {
        self.record = record
        self.answer = answer
    }
}

extension LeaseDecision: Equatable where Answer: Equatable {}

/// Answer to a release or a revocation.
package enum LeaseChange: Hashable, Sendable {
    case changed(LeaseRecord)
    /// The lease was already released or revoked, or belongs to another host. Nil if the meter never had a lease.
    case unchanged(LeaseRecord?)

    package var record: LeaseRecord? {
        switch self {
        case .changed(let record): record
        case .unchanged(let record): record
        }
    }
}
