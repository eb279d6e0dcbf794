/// A person's intent to take a meter over from its holder, until the cloud has answered it.
struct TakeoverIntent: Sendable {
    /// When the intent lapses.
    private let until: MonotonicTime
    /// The token of the grant to take over, if known yet.
    private(set) var target: FencingToken?

    /// Nil if the intent is not for a take-over.
    init?(_ intent: LeaseIntent, at now: MonotonicTime) {
        guard intent.isTakeover else { return nil }
        until = now + LeaseTiming.takeoverIntent
        target = intent.aimedAt
    }

    func isOver(at now: MonotonicTime) -> Bool { until <= now }

    /// The cloud has said who has the meter. This answer ends the intent or gives it a target, because a take-over is
    /// requested once. Afterwards the holder knows, and the request stands in the queue; or another host has the meter
    /// by now, which the person did not mean.
    ///
    /// - Parameters:
    ///   - lease: the present lease, if anybody has the meter.
    ///   - asked: the grant that the refused request was to take over.
    /// - Returns: whether the intent goes on. It has a target then.
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
