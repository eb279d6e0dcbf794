/// Asking for a lease until it is granted or nobody wants it.
struct Seeking: Sendable {
    private(set) var intent: LeaseIntent
    private var request: PendingRequest
    /// The answer to the last request may have been lost, so the next request repeats it.
    private var isRepeat = false
    /// When the request to be repeated was first sent.
    private var firstSentAt: MonotonicTime?
    /// The token of the grant that the last request was to take over, if any.
    private(set) var takeover: FencingToken?
    /// A link is used without a lease.
    private(set) var isUnleased: Bool
    private(set) var refusal: LeaseAnswer.Refusal.Reason?
    private(set) var isQueued = false

    /// - Parameters:
    ///   - askAt: when to send the first request.
    ///   - refusal: why a lease was lost just now.
    init(
        _ intent: LeaseIntent, askAt: MonotonicTime, isUnleased: Bool = false,
        refusal: LeaseAnswer.Refusal.Reason? = nil
    ) {
        self.intent = intent
        request = .waiting(until: askAt)
        self.isUnleased = isUnleased
        self.refusal = refusal
    }

    var isInFlight: Bool { request.isInFlight }
    var nextWake: MonotonicTime { request.time }

    func due(at now: MonotonicTime) -> PendingRequest.Due? { request.due(at: now) }

    // MARK: Requests

    /// The next request is sent now.
    ///
    /// - Parameter target: the token of the grant to take over, if any.
    mutating func ask(takeover target: FencingToken?, at now: MonotonicTime) -> LeaseMachine.Action {
        let isYoung = firstSentAt.map { now < $0 + LeaseTiming.repetitionAge } ?? false
        isRepeat = isRepeat && isYoung && takeover == target
        if !isRepeat { firstSentAt = now }
        request = .sent(at: now)
        takeover = target
        return .sendAcquire(again: isRepeat, takeover: target)
    }

    /// The answer took so long that the lease is of no use. The same request gets the same lease, renewed.
    mutating func grantedTooLate() { isRepeat = true }

    /// - Parameters:
    ///   - wait: when the authority suggests asking again.
    ///   - isFinal: whether the request goes on as a take-over, so that this was not a refusal yet.
    mutating func refused(
        _ reason: LeaseAnswer.Refusal.Reason, _ wait: Duration, isFinal: Bool, at now: MonotonicTime, random: UInt64
    ) {
        refusal = isFinal ? reason : nil
        isRepeat = false
        request = .waiting(until: now + Self.pause(after: reason, wait, random))
    }

    private static func pause(
        after reason: LeaseAnswer.Refusal.Reason, _ wait: Duration, _ random: UInt64
    ) -> Duration {
        let legal = LeaseTiming.refusedRetry
        let isSoonFree = reason == .revoking || reason == .reserved || reason == .released
        let longest = isSoonFree ? LeaseTiming.soonFreeRetry : legal.upperBound
        return LeaseTiming.spread(wait.clamped(to: legal.lowerBound...longest), random)
    }

    /// - Parameter failures: number of requests in a row that were not answered, this one included.
    mutating func unanswered(_ failures: Int, retryAfter: Duration, at now: MonotonicTime, random: UInt64) {
        isRepeat = true
        request = .waiting(until: now + max(LeaseTiming.acquireRetry(afterFailures: failures, random), retryAfter))
    }

    /// Somebody may have given the meter back: the next request is sent no later than `soon`.
    mutating func hasten(to soon: MonotonicTime) { request.hasten(to: soon) }

    /// The cloud can be reached again: what waited for it is sent no later than `soon`.
    mutating func cloudReached(_ soon: MonotonicTime) {
        if isRepeat || isQueued { request.hasten(to: soon) }
        isQueued = false
    }

    /// No lease is to be had, and nobody is asked.
    ///
    /// - Parameters:
    ///   - refusal: who has the meter, if another host does.
    ///   - time: when to look again.
    mutating func doWithout(_ refusal: LeaseAnswer.Refusal.Reason?, until time: MonotonicTime) {
        (self.refusal, isRepeat, isQueued) = (refusal, false, false)
        request = .waiting(until: time)
    }

    // MARK: Wishes

    /// The meter is wanted once more.
    mutating func wanted(_ intent: LeaseIntent) { if intent.isAsked { self.intent = intent } }

    mutating func goUnleased() { isUnleased = true }

    /// - Returns: whether to join the queue now, after such a refusal.
    mutating func joinsQueue(after reason: LeaseAnswer.Refusal.Reason) -> Bool {
        let mayQueue = reason == .held || reason == .revoking || reason == .reserved
        guard intent.waitsInLine, !isQueued, mayQueue else { return false }
        isQueued = true
        return true
    }

    /// The place in the queue is used or lost.
    mutating func leftQueue() { isQueued = false }
}
