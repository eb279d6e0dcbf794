/// Wish for a meter, by a person or an automatic resume.
package struct LeaseIntent: Hashable, Sendable {
    /// Applies to one holder only and expires after `LeaseTiming.takeoverIntent`.
    package var isTakeover: Bool
    /// Token of the grant that the person has seen (`who`). If nil, the machine first asks for the holder, then takes
    /// over from that host.
    package var aimedAt: FencingToken?
    /// Whether somebody waits for the meter, so that the host joins the queue.
    package var waitsInLine: Bool
    /// Whether a person asked just now, so that no pause applies.
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

/// How the use of a channel ended.
package enum ChannelEnd: Hashable, Sendable {
    /// A person's command, a shutdown or a withdrawn permit closed the channel.
    case letGo
    /// The link never came up.
    case attemptFailed
    /// The link was up. The host retries soon and keeps the lease for that (rule 8).
    case linkLost
}

/// Times of the holder's machine that do not come with a lease.
package enum LeaseTiming {
    /// Pause before a failed heartbeat is retried, ± 20 %.
    static let renewalRetry = Duration.seconds(5)
    /// Pause while the lease is lost and the link kept. Longer, to spare a cloud that is away for a weekend.
    static let lostRetry = Duration.seconds(30)
    package static let answerTimeout = Duration.seconds(5)
    /// Maximum wait for a confirmed release when a person disconnects.
    package static let releasePatience = Duration.seconds(3)
    /// Pause between failed acquires, doubling from the first value to the last.
    static let acquireRetry = Duration.seconds(1) ... .seconds(60)
    /// Range of the pause between refused acquires. Events shorten it.
    static let refusedRetry = Duration.milliseconds(500) ... .seconds(30)
    /// Maximum pause if the meter may soon be free; reservations last only seconds.
    static let soonFreeRetry = Duration.seconds(3)
    /// Interval at which a read-only host checks for a free meter. Events shorten it.
    static let barredLook = Duration.seconds(60)
    /// Time for which a lost link keeps its lease (rule 8).
    static let reconnectGrace = Duration.seconds(10)
    /// Pause in automatic acquires after somebody wanted the meter elsewhere.
    static let pauseAfterRevocation = Duration.seconds(30)
    /// Time to look for a granted meter that is not heard, before the host gives it back.
    package static let searchTime = Duration.seconds(30)

    package static func searchTime(after lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? searchTime : searchTime + lease.terms.heartbeat
    }

    /// Returns how long link attempts may fail: the former holder lets go at once, or at its next heartbeat.
    static func takeoverGrace(_ lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? reconnectGrace : searchTime(after: lease)
    }

    /// Time for which a person's take-over waits for the cloud's first answer. A later holder is not the one meant.
    package static let takeoverIntent = Duration.seconds(30)
    /// Maximum age of a repeated request: the authority remembers only a few grants.
    package static let repetitionAge = Duration.seconds(30)
    /// Number of consecutive unanswered requests that make the cloud unreachable.
    static let unreachableAfter = 2

    /// Returns between four and six fifths of `duration`.
    static func spread(_ duration: Duration, _ random: UInt64) -> Duration {
        duration * (800 + Int(random % 401)) / 1000
    }

    static func within(_ span: Duration, _ random: UInt64) -> Duration { span * Int(random % 1000) / 1000 }

    /// Returns half the time to live or up to a tenth less, so that hosts that started together drift apart.
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
