struct Releasing: Sendable {
    let token: FencingToken
    /// Intent received since the release began; nil if nothing requests the meter.
    var intent: LeaseIntent?
    private var request: PendingRequest
    /// Time at which the authority frees the meter even without a release.
    private let giveUpAt: MonotonicTime

    init(_ holding: Holding, intent: LeaseIntent?, at now: MonotonicTime) {
        token = holding.permit.token
        self.intent = intent
        request = .waiting(until: holding.renewAt)
        giveUpAt = now + holding.permit.terms.over
    }

    var isInFlight: Bool { request.isInFlight }
    var nextWake: MonotonicTime { request.time }

    func due(at now: MonotonicTime) -> PendingRequest.Due? { request.due(at: now) }

    mutating func sent(at now: MonotonicTime) { request = .sent(at: now) }

    /// Handles a failed release. Returns whether to retry it: no intent waits, and the authority may still consider the
    /// lease held.
    mutating func failed(at now: MonotonicTime, random: UInt64) -> Bool {
        guard intent == nil, now < giveUpAt else { return false }
        request = .waiting(until: now + LeaseTiming.spread(LeaseTiming.renewalRetry, random))
        return true
    }
}
