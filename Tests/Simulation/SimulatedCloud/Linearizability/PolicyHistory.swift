package import Domain

/// A zone's policy over time, as whoever changes it knows it: in force at the latest when the change was answered, and at
/// the earliest when it was asked for.
package struct PolicyHistory: Hashable, Sendable {
    private struct Change: Hashable {
        /// Nil: nobody knows, as the change got no answer.
        var policy: LeasePolicy?
        var calledAt: MonotonicTime
        var returnedAt: MonotonicTime
    }

    private let first: LeasePolicy
    private var changes: [Change] = []

    /// - Parameter first: the policy before any change.
    package init(_ first: LeasePolicy) { self.first = first }

    /// Adds a change, which began after those before it were over.
    package mutating func change(
        to policy: LeasePolicy, calledAt: MonotonicTime, returnedAt: MonotonicTime
    ) {
        changes.append(Change(policy: policy, calledAt: calledAt, returnedAt: returnedAt))
    }

    /// Adds a change that got no answer: it may take effect at any time from then on, over later ones too.
    package mutating func changeWithoutAnswer(calledAt: MonotonicTime) {
        changes.append(Change(policy: nil, calledAt: calledAt, returnedAt: calledAt))
    }

    /// The policy during the whole of a call.
    ///
    /// - Parameter end: nil: the call may take effect at any later time.
    /// - Returns: nil where it may have been either.
    package func policy(from start: MonotonicTime, to end: MonotonicTime?) -> LeasePolicy? {
        var possible: Set<LeasePolicy?> = [first]
        for change in changes {
            if let end, change.calledAt > end { break }
            if change.policy == nil { return nil }
            // One that was answered before the call began leaves nothing of those before it.
            if change.returnedAt < start { possible = [change.policy] } else { possible.insert(change.policy) }
        }
        return possible.count == 1 ? possible.first ?? nil : nil
    }
}
