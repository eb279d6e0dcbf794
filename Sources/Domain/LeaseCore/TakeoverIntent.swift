/// A user's intent to take a meter over, until the cloud answers.
struct TakeoverIntent: Sendable {
    private let until: MonotonicTime
    /// Token of the grant to take over; nil if not yet known.
    private(set) var target: FencingToken?

    /// Fails if the intent is not a take-over.
    init?(_ intent: LeaseIntent, at now: MonotonicTime) {
        guard intent.isTakeover else { return nil }
        until = now + LeaseTiming.takeoverIntent
        target = intent.aimedAt
    }

    func isOver(at now: MonotonicTime) -> Bool { until <= now }

    /// After a refused plain acquire, the present lease's token becomes the target if there is none. A refused
    /// take-over ends the intent.
    ///
    /// - Parameters:
    ///   - lease: the present lease; nil if no host holds the meter.
    ///   - asked: target of the refused take-over; nil for a plain acquire.
    /// - Returns: whether the intent is still valid; it then has a target.
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
