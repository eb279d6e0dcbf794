/// Rule for two hosts that want one meter.
package enum LeasePolicy: String, Hashable, Sendable, CaseIterable {
    /// A holder keeps a working link even if its lease ends, and a take-over takes effect immediately.
    case keep
    /// Two hosts never communicate with one meter at once: a holder that cannot renew closes its link before another
    /// may connect.
    case strict

    /// Returns the stricter policy: a host may only be stricter than its zone.
    package func stricter(_ other: LeasePolicy) -> LeasePolicy { self == .strict ? self : other }
}

/// Durations and policy of a lease. Host and authority use these, never their own configuration (Docs/Leases.md#times).
package struct LeaseTerms: Hashable, Sendable {
    package let timeToLive: Duration
    /// Time from the expiry of a lease until another host may acquire it; at least an eighth of the time to live.
    package let lockDelay: Duration
    /// Lock-delay as configured, before the minimum of `lockDelay` applies.
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

    // Ages since the holder *sent* the last successful request:

    package var heartbeat: Duration { timeToLive / 2 }
    /// Age from which the lease is reported as in jeopardy, and under `strict` no settings or commands are sent to the
    /// meter.
    package var jeopardy: Duration { timeToLive * 2 / 3 }
    /// Age from which the holder treats the lease as lost.
    package var hardStop: Duration { timeToLive * 9 / 10 }

    // Age since the authority *received* the last successful request:

    /// Age from which another host may acquire the lease.
    package var over: Duration { timeToLive + lockDelay }
}
