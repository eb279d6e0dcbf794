struct Seeking: Sendable {
    private(set) var intent: LeaseIntent
    private var request: PendingRequest
    /// Whether the next request repeats the last one, whose answer may be lost.
    private var isRepeat = false
    /// Time at which the present request was first sent; repetitions keep it. Nil before that.
    private var firstSentAt: MonotonicTime?
    /// Take-over target of the last request: a grant's token; nil for a plain acquire.
    private(set) var takeover: FencingToken?
    private(set) var isUnleased: Bool
    private(set) var refusal: LeaseAnswer.Refusal.Reason?
    private(set) var isQueued = false

    /// - Parameter refusal: `held` if another host acquired the lease that this one lost; nil otherwise.
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

    mutating func ask(takeover target: FencingToken?, at now: MonotonicTime) -> LeaseMachine.Action {
        let isYoung = firstSentAt.map { now < $0 + LeaseTiming.repetitionAge } ?? false
        isRepeat = isRepeat && isYoung && takeover == target
        if !isRepeat { firstSentAt = now }
        request = .sent(at: now)
        takeover = target
        return .sendAcquire(again: isRepeat, takeover: target)
    }

    /// Handles a grant that arrived after its hard stop. Repeating the request renews the same lease.
    mutating func grantedTooLate() { isRepeat = true }

    /// - Parameter isFinal: false if the host repeats the request as a take-over.
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

    /// - Parameter failures: number of consecutive unanswered requests, this one included.
    mutating func unanswered(_ failures: Int, retryAfter: Duration, at now: MonotonicTime, random: UInt64) {
        isRepeat = true
        request = .waiting(until: now + max(LeaseTiming.acquireRetry(afterFailures: failures, random), retryAfter))
    }

    mutating func hasten(to soon: MonotonicTime) { request.hasten(to: soon) }

    /// Sends a repeated or queued request at `soon` at the latest. Clears the place in the queue.
    mutating func cloudReached(_ soon: MonotonicTime) {
        if isRepeat || isQueued { request.hasten(to: soon) }
        isQueued = false
    }

    /// Waits without a request, because this host can get no lease.
    ///
    /// - Parameter refusal: `held` if another host has the meter; nil otherwise.
    mutating func doWithout(_ refusal: LeaseAnswer.Refusal.Reason?, until time: MonotonicTime) {
        (self.refusal, isRepeat, isQueued) = (refusal, false, false)
        request = .waiting(until: time)
    }

    // MARK: Wishes

    mutating func wanted(_ intent: LeaseIntent) { if intent.isAsked { self.intent = intent } }

    mutating func goUnleased() { isUnleased = true }

    mutating func joinsQueue(after reason: LeaseAnswer.Refusal.Reason) -> Bool {
        let mayQueue = reason == .held || reason == .revoking || reason == .reserved
        guard intent.waitsInLine, !isQueued, mayQueue else { return false }
        isQueued = true
        return true
    }

    mutating func leftQueue() { isQueued = false }
}
