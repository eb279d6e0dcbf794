/// What a rule decided: what to store, and what to answer.
package struct LeaseDecision<Answer: Sendable>: Sendable {
    /// nil means leave it as it is.
    package var record: LeaseRecord?
    package var answer: Answer

    package init(record: LeaseRecord?, answer: Answer) {
        self.record = record
        self.answer = answer
    }
}

extension LeaseDecision: Equatable where Answer: Equatable {}

/// The answer to a release or a revocation: the lease as it is then. Both change nothing when repeated.
package enum LeaseChange: Hashable, Sendable {
    /// This very call changed it.
    case changed(LeaseRecord)
    /// It was so already, or it is none of the caller's business. nil means there never was a lease.
    case unchanged(LeaseRecord?)

    package var record: LeaseRecord? {
        switch self {
        case .changed(let record): record
        case .unchanged(let record): record
        }
    }
}
