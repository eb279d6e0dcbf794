/// A person's intent to take a meter over, until the cloud answers.
struct TakeoverIntent: Sendable {
    private let until: MonotonicTime
    /// Token of the grant to take over, if known yet.
    private(set) var target: FencingToken?

    /// Returns nil for other intents.
    init?(_ intent: LeaseIntent, at now: MonotonicTime) {
        guard intent.isTakeover else { return nil }
        until = now + LeaseTiming.takeoverIntent
        target = intent.aimedAt
    }

    func isOver(at now: MonotonicTime) -> Bool { until <= now }

    /// Handles a refusal: it ends the intent or gives it a target, because a take-over is requested once. A refused
    /// take-over waits in the queue, or meets a holder that the person did not mean.
    ///
    /// - Parameters:
    ///   - lease: the present lease, if anybody has the meter.
    ///   - asked: token of the grant in the refused take-over; nil for a plain acquire.
    /// - Returns: whether the intent goes on; it has a target then.
    mutating func refused(
        _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, asked: FencingToken?, at now: MonotonicTime
    ) -> Bool {
        guard !isOver(at: now), asked == nil, reason == .held || reason == .revoking,
            let target = target ?? lease?.token
        else { return false }
        self.target = target
        return true
    }
}
