/// Rule for two hosts that want one meter.
package enum LeasePolicy: String, Hashable, Sendable, CaseIterable {
    /// For a home: a working link is kept, and a take-over takes effect immediately.
    case keep
    /// Two hosts never communicate with one meter at the same time: a holder that cannot renew closes its link before
    /// another host may connect.
    case strict

    /// Returns the stricter of two policies. A host may only be stricter than its zone.
    package func stricter(_ other: LeasePolicy) -> LeasePolicy { self == .strict ? self : other }
}

/// Times contained in the grant. Every party uses these times, never its own configuration (Docs/Leases.md#times).
package struct LeaseTerms: Hashable, Sendable {
    package let timeToLive: Duration
    /// Pause between the end of a lease and a grant to another host. At least an eighth of the time to live.
    package let lockDelay: Duration
    /// Configured lock-delay. `lockDelay` is an eighth of the time to live if that is longer.
    package let askedLockDelay: Duration
    package let policy: LeasePolicy

    package static let timeToLiveRange = Duration.seconds(30) ... .seconds(600)
    package static let standard = LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: .keep)

    package init(timeToLive: Duration, lockDelay: Duration, policy: LeasePolicy) {
        let legal = Self.timeToLiveRange
        self.timeToLive = min(max(timeToLive, legal.lowerBound), legal.upperBound)
        askedLockDelay = min(max(lockDelay, .zero), legal.upperBound)
        self.lockDelay = max(askedLockDelay, self.timeToLive / 8)
        self.policy = policy
    }

    package func under(_ policy: LeasePolicy) -> LeaseTerms {
        LeaseTerms(timeToLive: timeToLive, lockDelay: askedLockDelay, policy: self.policy.stricter(policy))
    }

    // The following ages count from the time at which the holder *sent* the last good request.

    package var heartbeat: Duration { timeToLive / 2 }
    /// Age from which the host reports the lease as in jeopardy. From then on, under `strict`, it sends no setting or
    /// command to the meter.
    package var jeopardy: Duration { timeToLive * 2 / 3 }
    /// Age from which the holder treats the lease as lost.
    package var hardStop: Duration { timeToLive * 9 / 10 }

    // The following age counts from the time at which the authority *received* the last good request.

    /// Age from which another host may acquire the lease.
    package var over: Duration { timeToLive + lockDelay }
}
