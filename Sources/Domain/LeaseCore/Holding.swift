/// Granted lease, and the channel used under it.
struct Holding: Sendable {
    private enum Channel: Sendable {
        /// Time until which failed link attempts do not end the lease; nil once the link is up, or if the first failure
        /// ends the lease.
        case open(keptUntil: MonotonicTime?)
        /// The host keeps the lease until `keptUntil`, to reconnect.
        case closed(keptUntil: MonotonicTime)
    }

    private(set) var permit: LeasePermit
    private var channel = Channel.open(keptUntil: nil)
    /// Time of the next heartbeat or retry.
    private(set) var renewAt: MonotonicTime
    private(set) var isRenewing = false
    /// Whether the lease passed its hard stop, but its link is kept (policy `keep`).
    private(set) var isLost = false

    init(_ lease: LeaseView, sentAt: MonotonicTime, random: UInt64) {
        permit = LeasePermit(token: lease.token, terms: lease.terms, sentAt: sentAt)
        renewAt = sentAt + LeaseTiming.heartbeat(of: lease.terms, random)
    }

    // MARK: Heartbeats

    /// - Returns: the token to renew; nil if recently renewed, or if a renewal is in flight and its retry not due.
    mutating func joinRenewal(at now: MonotonicTime, random: UInt64) -> FencingToken? {
        let isFresh = now - permit.sentAt < permit.terms.timeToLive / 4
        guard now >= renewAt || (!isRenewing && !isFresh) else { return nil }
        let retry = isLost ? LeaseTiming.lostRetry : LeaseTiming.renewalRetry
        // Jitter separates the retries of requests that failed together.
        renewAt = now + LeaseTiming.spread(retry, random)
        isRenewing = true
        return permit.token
    }

    mutating func renewalEnded() { isRenewing = false }

    /// - Returns: false if this request was not sent after the request of the current permit, or if the new hard stop
    ///   has passed.
    mutating func renew(_ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, random: UInt64) -> Bool {
        let later = LeasePermit(token: lease.token, terms: lease.terms, sentAt: sentAt)
        guard sentAt > permit.sentAt, now < later.hardStopAt else { return false }
        permit = later
        renewAt = sentAt + LeaseTiming.heartbeat(of: later.terms, random)
        isLost = false
        return true
    }

    mutating func hastenRenewal(to soon: MonotonicTime) { renewAt = min(renewAt, soon) }

    // MARK: The channel

    var isOpen: Bool { if case .open = channel { true } else { false } }

    mutating func allowFailures(until time: MonotonicTime) { channel = .open(keptUntil: time) }

    mutating func linkUp() { if isOpen { channel = .open(keptUntil: nil) } }

    /// Handles the channel's end. Returns whether the host keeps the lease, to reconnect.
    mutating func closed(_ end: ChannelEnd, at now: MonotonicTime) -> Bool {
        guard case .open(let keptUntil) = channel else { return true }
        let deadline = end == .linkLost ? now + LeaseTiming.reconnectGrace : keptUntil
        guard end != .letGo, let deadline, now < deadline else { return false }
        channel = .closed(keptUntil: deadline)
        return true
    }

    mutating func reopen() { if case .closed(let keptUntil) = channel { channel = .open(keptUntil: keptUntil) } }

    // MARK: Time

    /// Whether a working link outlives its lease.
    func isKept(under policy: LeasePolicy) -> Bool { policy.stricter(permit.terms.policy) == .keep }

    enum Due {
        case hardStop
        case graceOver
        case renewal
    }

    /// Nil if nothing is due. If the lease ends while its link is kept, sets `isLost` instead.
    mutating func woke(at now: MonotonicTime, under policy: LeasePolicy) -> Due? {
        if now >= permit.hardStopAt, !isLost {
            guard isKept(under: policy), isOpen else { return .hardStop }
            isLost = true
            return nil
        }
        if case .closed(let keptUntil) = channel, now >= keptUntil { return .graceOver }
        return now >= renewAt ? .renewal : nil
    }

    var nextWake: MonotonicTime {
        var next = renewAt
        if !isLost { next = min(next, permit.hardStopAt) }
        if case .closed(let keptUntil) = channel { next = min(next, keptUntil) }
        return next
    }

    func phase(at now: MonotonicTime) -> LeaseMachine.Phase {
        now >= permit.hardStopAt ? .lost : now >= permit.jeopardyAt ? .jeopardy : .held
    }
}
