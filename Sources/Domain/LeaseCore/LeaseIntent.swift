/// Intent to use a meter, from a user or an automatic resume.
package struct LeaseIntent: Hashable, Sendable {
    /// Whether to take over the meter from its holder. The intent applies to one holder only, and expires after
    /// `LeaseTiming.takeoverIntent`.
    package var isTakeover: Bool
    /// Token of the grant that the user has seen (`who`). If nil, the machine first sends a plain acquire to learn the
    /// holder's token, and then takes over from that holder only.
    package var aimedAt: FencingToken?
    /// Whether a user waits for the meter, so that the host joins the queue.
    package var waitsInLine: Bool
    /// Whether a user has just requested the meter. If so, pauses do not delay the request.
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

/// Reason why the use of a channel ended.
package enum ChannelEnd: Hashable, Sendable {
    /// A user's command, a shutdown or a withdrawn permit closed the channel.
    case letGo
    /// The link never came up.
    case attemptFailed
    /// The link was up and failed. The host retries soon and keeps the lease meanwhile (rule 8).
    case linkLost
}

/// Durations that hosts use and that are not part of a lease's terms.
package enum LeaseTiming {
    /// Pause before a failed heartbeat is retried, ± 20 %.
    static let renewalRetry = Duration.seconds(5)
    /// Retry pause while the lease is lost and the link is kept. It is longer, to reduce requests during a long outage
    /// of the cloud.
    static let lostRetry = Duration.seconds(30)
    package static let answerTimeout = Duration.seconds(5)
    /// Maximum wait for a confirmed release when a user disconnects.
    package static let releasePatience = Duration.seconds(3)
    /// Pause between failed acquires, doubling from the first value to the last.
    static let acquireRetry = Duration.seconds(1) ... .seconds(60)
    /// Range of the pause between refused acquires. A notice that the meter is free shortens the pause.
    static let refusedRetry = Duration.milliseconds(500) ... .seconds(30)
    /// Maximum pause if the meter may soon be free, for example because a reservation lasts only seconds.
    static let soonFreeRetry = Duration.seconds(3)
    /// Interval at which a read-only host checks for a free meter. A notice that the meter is free shortens it.
    static let barredLook = Duration.seconds(60)
    /// Time for which a lost link keeps its lease (rule 8).
    static let reconnectGrace = Duration.seconds(10)
    /// Pause of automatic acquires on this host after a user requested the meter on another host.
    static let pauseAfterRevocation = Duration.seconds(30)
    /// Maximum time to search for a granted meter that does not advertise, before the host releases the lease.
    package static let searchTime = Duration.seconds(30)

    package static func searchTime(after lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? searchTime : searchTime + lease.terms.heartbeat
    }

    /// Returns how long link attempts may fail after a take-over. The time is longer if the former holder was not
    /// informed, because it then keeps its link until its next heartbeat.
    static func takeoverGrace(_ lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? reconnectGrace : searchTime(after: lease)
    }

    /// Time for which a user's take-over waits for the cloud's first answer. After that, the holder may be a host that
    /// the user did not mean, so the take-over expires.
    package static let takeoverIntent = Duration.seconds(30)
    /// Maximum age at which a request is repeated. The authority recognises a repeated request by its stored grants,
    /// and it stores only a few, so an older grant may be missing.
    package static let repetitionAge = Duration.seconds(30)
    /// Number of consecutive unanswered requests after which the cloud counts as unreachable.
    static let unreachableAfter = 2

    /// Returns a random duration between 80 % and 120 % of `duration`.
    static func spread(_ duration: Duration, _ random: UInt64) -> Duration {
        duration * (800 + Int(random % 401)) / 1000
    }

    static func within(_ span: Duration, _ random: UInt64) -> Duration { span * Int(random % 1000) / 1000 }

    /// Returns a heartbeat interval of half the time to live or up to a tenth less, so that hosts that started together
    /// do not send simultaneously.
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
