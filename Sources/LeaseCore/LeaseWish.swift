/// How a meter is wanted.
package struct LeaseWish: Hashable, Sendable {
    /// Whoever has it is to let go. Good for `LeaseTiming.takeoverWish`, and against one holder only.
    package var isTakeover: Bool
    /// The grant that a take-over is aimed at, where the person has seen it (`who`). nil means the machine asks first
    /// who has the meter, and takes it over from that one.
    package var aimedAt: FencingToken?
    /// Somebody waits for it, and takes a place in the queue.
    package var waitsInLine: Bool
    /// A person asked just now: no pause holds it back. Otherwise the host resumes by itself.
    package var isAsked: Bool

    package init(
        isTakeover: Bool = false, aimedAt: FencingToken? = nil, waitsInLine: Bool = false, isAsked: Bool = false
    ) {
        self.isTakeover = isTakeover
        self.aimedAt = aimedAt
        self.waitsInLine = waitsInLine
        self.isAsked = isAsked
    }

    /// A meter that was wanted before, tried again.
    package static let resume = LeaseWish()
}

/// How the use of a channel ended.
package enum ChannelEnd: Hashable, Sendable {
    /// On purpose: a person's word, a shutdown, a withdrawn permission.
    case letGo
    /// The link never came up.
    case attemptFailed
    /// It was up. It is tried again soon, and the lease is kept for that (rule 8).
    case linkLost
}

/// The times of the holder's machine that no lease sets.
package enum LeaseTiming {
    /// A heartbeat without success is repeated so soon, give or take a fifth.
    package static let renewalRetry = Duration.seconds(5)
    /// The same once the lease is lost and the link kept: a cloud that is away for a weekend is not asked every 5 s.
    package static let lostRetry = Duration.seconds(30)
    /// An acquire or a release without an answer counts as failed after so long.
    package static let answerTimeout = Duration.seconds(5)
    /// A person who lets go of a meter waits so long at most for the release to be confirmed.
    package static let releasePatience = Duration.seconds(3)
    /// Between acquires that fail: doubles from the first to the last of these.
    package static let acquireRetry = Duration.seconds(1) ... .seconds(60)
    /// Between acquires that are refused, whatever the authority says; events make it sooner.
    package static let refusedRetry = Duration.milliseconds(500) ... .seconds(30)
    /// The same where the meter may be free any moment and is reserved for seconds only.
    package static let soonFreeRetry = Duration.seconds(3)
    /// A lost link keeps its lease so long (rule 8).
    package static let reconnectGrace = Duration.seconds(10)
    /// After somebody's wish to have it elsewhere, the host does not ask again by itself for so long.
    package static let pauseAfterRevocation = Duration.seconds(30)
    /// A meter that was granted and is not heard yet is looked for so long, before it is given back.
    package static let searchTime = Duration.seconds(30)

    /// How long a granted meter may have to be looked for.
    package static func searchTime(after lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? searchTime : searchTime + lease.terms.heartbeat
    }

    /// How long attempts at the link of a meter that was taken over may fail: the old holder lets go at once, or when its
    /// heartbeat tells it to.
    static func takeoverGrace(_ lease: LeaseView) -> Duration {
        lease.isOldHolderTold ? reconnectGrace : searchTime(after: lease)
    }

    /// How long a person's wish to take over waits for the cloud's first answer. Whoever has the meter later is not
    /// whom the person meant.
    package static let takeoverWish = Duration.seconds(30)
    /// No request is repeated once it is so old: the authority does not remember it for ever.
    package static let repetitionAge = Duration.seconds(30)
    /// So many requests in a row without an answer, and the cloud counts as unreachable.
    package static let unreachableAfter = 2

    /// - Parameter dice: random bits. The result is between four and six fifths of `duration`.
    static func spread(_ duration: Duration, _ dice: UInt64) -> Duration { duration * (800 + Int(dice % 401)) / 1000 }

    /// A moment within `span`.
    static func within(_ span: Duration, _ dice: UInt64) -> Duration { span * Int(dice % 1000) / 1000 }

    /// Half the time to live or a little less, so that hosts that started together drift apart.
    static func heartbeat(of terms: LeaseTerms, _ dice: UInt64) -> Duration {
        terms.heartbeat * (900 + Int(dice % 101)) / 1000
    }

    static func acquireRetry(afterFailures failures: Int, _ dice: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 10)
        return spread(min(acquireRetry.lowerBound * (1 << doublings), acquireRetry.upperBound), dice)
    }
}

extension Duration {
    func clamped(to range: ClosedRange<Duration>) -> Duration { min(max(self, range.lowerBound), range.upperBound) }
}
