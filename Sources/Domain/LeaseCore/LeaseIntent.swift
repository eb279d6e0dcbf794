/// How a host wants a meter.
package struct LeaseIntent: Hashable, Sendable {
    /// Take the meter over from its holder. Valid for `LeaseTiming.takeoverIntent`, and against one holder only.
    package var isTakeover: Bool
    /// The grant to take over, if the person has seen it (`who`). If nil, the machine first asks who has the meter, and
    /// takes it over from that host.
    package var aimedAt: FencingToken?
    /// Somebody is waiting for the meter, and takes a place in the queue.
    package var waitsInLine: Bool
    /// A person asked just now, so no pause applies. Otherwise the host resumes by itself.
    package var isAsked: Bool

    package init(
        isTakeover: Bool = false, aimedAt: FencingToken? = nil, waitsInLine: Bool = false, isAsked: Bool = false
    ) {
        self.isTakeover = isTakeover
        self.aimedAt = aimedAt
        self.waitsInLine = waitsInLine
        self.isAsked = isAsked
    }

    /// Another attempt at a meter that was wanted before.
    package static let resume = LeaseIntent()
}

/// How the use of a channel ended.
package enum ChannelEnd: Hashable, Sendable {
    /// On purpose: a person's command, a shutdown, or a withdrawn permission.
    case letGo
    /// The link never came up.
    case attemptFailed
    /// The link was up. It will be tried again soon, and the lease is kept for that (rule 8).
    case linkLost
}

/// The times of the holder's machine that do not come with a lease.
package enum LeaseTiming {
    /// How soon a failed heartbeat is repeated, give or take a fifth.
    static let renewalRetry = Duration.seconds(5)
    /// The same once the lease is lost and the link kept, so that a cloud away for a weekend is not asked every 5 s.
    static let lostRetry = Duration.seconds(30)
    /// When an unanswered acquire or release counts as failed.
    package static let answerTimeout = Duration.seconds(5)
    /// How long a person who lets go of a meter waits at most for the release to be confirmed.
    package static let releasePatience = Duration.seconds(3)
    /// Pause between failing acquires, which doubles from the first to the last of these.
    static let acquireRetry = Duration.seconds(1) ... .seconds(60)
    /// Pause between refused acquires, whatever the authority says; events shorten it.
    static let refusedRetry = Duration.milliseconds(500) ... .seconds(30)
    /// The longest such pause if the meter may become free at any moment, as reservations last only seconds.
    static let soonFreeRetry = Duration.seconds(3)
    /// How often a host that may only look sees whether it may use a meter by now. Events shorten it.
    static let barredLook = Duration.seconds(60)
    /// How long a lost link keeps its lease (rule 8).
    static let reconnectGrace = Duration.seconds(10)
    /// How long the host does not ask by itself after somebody wanted the meter elsewhere.
    static let pauseAfterRevocation = Duration.seconds(30)
    /// How long to look for a granted meter that is not heard yet, before it is given back.
    package static let searchTime = Duration.seconds(30)

    /// How long to look for a meter after a grant.
    package static func searchTime(after lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? searchTime : searchTime + lease.terms.heartbeat
    }

    /// How long attempts at the link may fail after a take-over: the former holder lets go at once, or when its
    /// heartbeat tells it to.
    static func takeoverGrace(_ lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? reconnectGrace : searchTime(after: lease)
    }

    /// How long a person's intent to take over waits for the cloud's first answer. A host that gets the meter later is
    /// not the one the person meant.
    package static let takeoverIntent = Duration.seconds(30)
    /// Greatest age of a repeated request: the authority does not remember requests for ever.
    package static let repetitionAge = Duration.seconds(30)
    /// Number of consecutive unanswered requests after which the cloud counts as unreachable.
    static let unreachableAfter = 2

    /// - Parameter random: random bits. The result is between four and six fifths of `duration`.
    static func spread(_ duration: Duration, _ random: UInt64) -> Duration {
        duration * (800 + Int(random % 401)) / 1000
    }

    /// A random moment within `span`.
    static func within(_ span: Duration, _ random: UInt64) -> Duration { span * Int(random % 1000) / 1000 }

    /// Half the time to live or a little less, so that hosts that started together drift apart.
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
