/// A lease that was granted: its permit, its heartbeats, and the channel that is used under it.
struct Holding: Sendable {
    private enum Channel: Sendable {
        /// A permit is out. With a time, the link was lost and no reconnect has succeeded yet.
        case open(keptUntil: MonotonicTime?)
        /// The link was lost; the lease is kept until then for a reconnect.
        case closed(keptUntil: MonotonicTime)
    }

    private(set) var permit: LeasePermit
    private var channel = Channel.open(keptUntil: nil)
    /// When the next heartbeat, or its repetition, is due.
    private(set) var renewAt: MonotonicTime
    private(set) var isRenewing = false
    /// Under `keep`, the hard stop has passed and been reported.
    private(set) var isLost = false

    /// - Parameters:
    ///   - sentAt: when the answered request was sent.
    ///   - random: random bits for the heartbeat.
    init(_ lease: LeaseView, sentAt: MonotonicTime, random: UInt64) {
        permit = LeasePermit(token: lease.token, terms: lease.terms, sentAt: sentAt)
        renewAt = sentAt + LeaseTiming.heartbeat(of: lease.terms, random)
    }

    // MARK: Heartbeats

    /// - Returns: the token to renew, or nil if this lease does not need it yet or is being renewed.
    mutating func joinRenewal(at now: MonotonicTime, random: UInt64) -> FencingToken? {
        let isFresh = now - permit.sentAt < permit.terms.timeToLive / 4
        guard now >= renewAt || (!isRenewing && !isFresh) else { return nil }
        let retry = isLost ? LeaseTiming.lostRetry : LeaseTiming.renewalRetry
        // Spread between four and six fifths, so that the lost requests of a burst are not all repeated at once.
        renewAt = now + LeaseTiming.spread(retry, random)
        isRenewing = true
        return permit.token
    }

    /// The heartbeat was answered, or counts as lost.
    mutating func renewalEnded() { isRenewing = false }

    /// The lease was granted anew.
    ///
    /// - Returns: whether that is news: the request was sent later than the last good one, and not too long ago.
    mutating func renew(_ lease: LeaseView, sentAt: MonotonicTime, at now: MonotonicTime, random: UInt64) -> Bool {
        let later = LeasePermit(token: lease.token, terms: lease.terms, sentAt: sentAt)
        guard sentAt > permit.sentAt, now < later.hardStopAt else { return false }
        permit = later
        renewAt = sentAt + LeaseTiming.heartbeat(of: later.terms, random)
        isLost = false
        return true
    }

    /// The next heartbeat is sent no later than `soon`.
    mutating func hastenRenewal(to soon: MonotonicTime) { renewAt = min(renewAt, soon) }

    // MARK: The channel

    var isOpen: Bool { if case .open = channel { true } else { false } }

    /// Attempts at the link may fail until then.
    mutating func allowFailures(until time: MonotonicTime) { channel = .open(keptUntil: time) }

    /// The link is up, which ends any grace after an earlier loss.
    mutating func linkUp() { if isOpen { channel = .open(keptUntil: nil) } }

    /// The channel was closed.
    ///
    /// - Returns: whether the lease is kept for a reconnect.
    mutating func closed(_ end: ChannelEnd, at now: MonotonicTime) -> Bool {
        guard case .open(let keptUntil) = channel else { return true }
        let deadline = end == .linkLost ? now + LeaseTiming.reconnectGrace : keptUntil
        guard end != .letGo, let deadline, now < deadline else { return false }
        channel = .closed(keptUntil: deadline)
        return true
    }

    /// Another attempt begins.
    mutating func reopen() { if case .closed(let keptUntil) = channel { channel = .open(keptUntil: keptUntil) } }

    // MARK: Time

    /// Whether a working link outlives the lease.
    func isKept(under policy: LeasePolicy) -> Bool { policy.stricter(permit.terms.policy) == .keep }

    /// What the time has come for.
    enum Due {
        case hardStop
        case graceOver
        case renewal
    }

    /// Time has passed. A lease that ends while its link is kept is lost from now on.
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
