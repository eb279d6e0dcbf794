/// A lease that is given back.
struct Releasing: Sendable {
    let token: FencingToken
    /// The intent for the meter since then, if any.
    var intent: LeaseIntent?
    private var request: PendingRequest
    /// When the authority gives the meter to others by itself.
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

    /// No answer came.
    ///
    /// - Returns: whether to send it again: nobody waits for the end, and the authority may still believe in the lease.
    mutating func failed(at now: MonotonicTime, random: UInt64) -> Bool {
        guard intent == nil, now < giveUpAt else { return false }
        request = .waiting(until: now + LeaseTiming.spread(LeaseTiming.renewalRetry, random))
        return true
    }
}
