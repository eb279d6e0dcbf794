/// What two hosts do when they cannot agree.
package enum LeasePolicy: String, Hashable, Sendable, CaseIterable {
    /// For a home: a working link is kept, and a take-over happens at once.
    case keep
    /// Two hosts never talk to one meter at once: a holder that cannot renew cuts its link before another may begin.
    case strict

    /// The stricter of two policies. A host may only be stricter than its zone.
    package func stricter(_ other: LeasePolicy) -> LeasePolicy { self == .strict ? self : other }
}

/// The times of one lease. They come with the grant, and everybody uses those, never their own configuration
/// (Docs/Leases.md#times).
package struct LeaseTerms: Hashable, Sendable {
    /// Within `timeToLiveRange`.
    package let timeToLive: Duration
    /// At least an eighth of the time to live: the gap between the end of one lease and another host's.
    package let lockDelay: Duration
    /// The lock-delay that was asked for. `lockDelay` is longer where the time to live needs that.
    package let askedLockDelay: Duration
    package let policy: LeasePolicy

    package static let timeToLiveRange = Duration.seconds(30) ... .seconds(600)
    package static let standard = LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: .keep)

    /// Clamps times to their legal ranges.
    package init(timeToLive: Duration, lockDelay: Duration, policy: LeasePolicy) {
        let legal = Self.timeToLiveRange
        self.timeToLive = min(max(timeToLive, legal.lowerBound), legal.upperBound)
        askedLockDelay = min(max(lockDelay, .zero), legal.upperBound)
        self.lockDelay = max(askedLockDelay, self.timeToLive / 8)
        self.policy = policy
    }

    /// The same times, with the stricter of both policies.
    package func under(_ policy: LeasePolicy) -> LeaseTerms {
        LeaseTerms(timeToLive: timeToLive, lockDelay: askedLockDelay, policy: self.policy.stricter(policy))
    }

    // The following are counted from when the last good request was *sent*.

    package var heartbeat: Duration { timeToLive / 2 }
    /// From here on this is reported, and under `strict` no setting or command is sent to the meter.
    package var jeopardy: Duration { timeToLive * 2 / 3 }
    /// From here on the holder treats the lease as lost.
    package var hardStop: Duration { timeToLive * 9 / 10 }

    // Counted by the authority, from when it *received* the last good request.

    /// From here on another host may have the lease.
    package var over: Duration { timeToLive + lockDelay }
}
