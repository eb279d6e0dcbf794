/// Intent to use a meter, from a user or an automatic resume.
package struct LeaseIntent: Hashable, Sendable {
    /// Whether to take over from the holder. Applies to one holder only, and expires after
    /// `LeaseTiming.takeoverIntent`.
    package var isTakeover: Bool
    /// Fencing token of the grant that the user saw in `meterctl who`. If nil, a plain acquire first returns the
    /// holder's token.
    package var aimedAt: FencingToken?
    /// Whether a user waits, so that the host joins the queue.
    package var waitsInLine: Bool
    /// Whether a user has just requested the meter, so that retry pauses do not apply.
    package var isAsked: Bool

    package init(
        isTakeover: Bool = false, aimedAt: FencingToken? = nil, waitsInLine: Bool = false, isAsked: Bool = false
    ) {
        self.isTakeover = isTakeover
        self.aimedAt = aimedAt
        self.waitsInLine = waitsInLine
        self.isAsked = isAsked
    }

    package static let resume = LeaseIntent()
}

package enum ChannelEnd: Hashable, Sendable {
    /// Closed by a user's command, a shutdown or a withdrawn permit.
    case letGo
    case attemptFailed
    /// The link failed after it was up. The host keeps the lease and reconnects (rule 8).
    case linkLost
}

/// Durations that are not part of a lease's terms.
package enum LeaseTiming {
    /// Pause after a failed heartbeat, ± 20 %.
    static let renewalRetry = Duration.seconds(5)
    /// Pause between heartbeats while the lease is lost and the link is kept. Long, to limit requests during an outage
    /// of the cloud.
    static let lostRetry = Duration.seconds(30)
    package static let answerTimeout = Duration.seconds(5)
    /// Maximum wait for a confirmed release when a user disconnects.
    package static let releasePatience = Duration.seconds(3)
    /// Pause after a failed acquire; doubles from the first value to the last.
    static let acquireRetry = Duration.seconds(1) ... .seconds(60)
    /// Pause after a refused acquire, unless the cloud reports that the meter is free.
    static let refusedRetry = Duration.milliseconds(500) ... .seconds(30)
    /// Maximum pause if the meter may soon be free, for example after a short reservation.
    static let soonFreeRetry = Duration.seconds(3)
    /// Interval at which a read-only host checks for a free meter, unless the cloud reports one.
    static let barredLook = Duration.seconds(60)
    /// Time for which a lost link keeps its lease (rule 8).
    static let reconnectGrace = Duration.seconds(10)
    /// Pause of automatic acquires after a user requested the meter on another host.
    static let pauseAfterRevocation = Duration.seconds(30)
    /// Maximum duration of the search for a leased meter that does not advertise, before the host releases it.
    package static let searchTime = Duration.seconds(30)

    package static func searchTime(after lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? searchTime : searchTime + lease.terms.heartbeat
    }

    /// Time for which link attempts may fail after a take-over. Longer if the former holder was not notified: it then
    /// keeps its link until its next heartbeat.
    static func takeoverGrace(_ lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? reconnectGrace : searchTime(after: lease)
    }

    /// Maximum wait of a take-over for the cloud's first answer. Later, the holder may be a host that the user did not
    /// mean.
    package static let takeoverIntent = Duration.seconds(30)
    /// Maximum age of a repeated request. The cloud recognises repetitions by its stored grants, and stores only a few.
    package static let repetitionAge = Duration.seconds(30)
    /// Consecutive unanswered requests after which the cloud counts as unreachable.
    static let unreachableAfter = 2

    /// Returns 80 % to 120 % of `duration`.
    static func spread(_ duration: Duration, _ random: UInt64) -> Duration {
        duration * (800 + Int(random % 401)) / 1000
    }

    static func within(_ span: Duration, _ random: UInt64) -> Duration { span * Int(random % 1000) / 1000 }

    /// Returns 45 % to 50 % of the time to live, so that hosts started together do not send simultaneously.
    static func heartbeat(of terms: LeaseTerms, _ random: UInt64) -> Duration {
        terms.heartbeat * (900 + Int(random % 101)) / 1000
    }

    static func acquireRetry(afterFailures failures: Int, _ random: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 10)
        return spread(min(acquireRetry.lowerBound * (1 << doublings), acquireRetry.upperBound), random)
    }
}

extension Duration {
    func clamped(to range: ClosedRange<Duration>) -> Duration { min(max(self, range.lowerBound), range.upperBound) }
}
