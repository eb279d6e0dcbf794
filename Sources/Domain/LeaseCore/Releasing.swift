/// Lease that the host gives back.
struct Releasing: Sendable {
    let token: FencingToken
    /// Wish for the meter since the release began.
    var intent: LeaseIntent?
    private var request: PendingRequest
    /// Time at which the authority gives the meter to others without a release.
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

    /// - Returns: whether to retry: no new wish waits for the end, and the authority may still believe in the lease.
    mutating func failed(at now: MonotonicTime, random: UInt64) -> Bool {
        guard intent == nil, now < giveUpAt else { return false }
        request = .waiting(until: now + LeaseTiming.spread(LeaseTiming.renewalRetry, random))
        return true
    }
}
