/// What a host knows of one meter's lease, in whatever state its own is: whether the cloud answers, who else may have
/// the meter, what was given back, and what people want.
struct LeaseKnowledge: Sendable {
    /// Somebody wanted the meter elsewhere.
    private struct Pause: Sendable {
        /// Until when the host does not ask by itself.
        var until: MonotonicTime
        /// The token of the lease lost to that intent.
        var token: FencingToken
    }

    private let host: HostID
    /// The stricter of the host's own policy and the zone's, as far as known.
    private(set) var policy: LeasePolicy
    /// What the cloud lets this host do, as it last said.
    private var role: HostRole
    /// Consecutive requests without an answer.
    private(set) var failures = 0
    /// The greatest token of this meter heard of so far, or one more if its release got no answer. The next grant's has
    /// to exceed it.
    private(set) var greatestToken: FencingToken?
    /// Tokens up to this one were given back, though the authority may not have heard of it yet.
    private var releasedThrough: FencingToken?
    /// Until when another host may have the meter, by what was last heard.
    private(set) var elsewhereUntil: MonotonicTime?
    private var takeover: TakeoverIntent?
    private var pause: Pause?

    init(host: HostID, policy: LeasePolicy, role: HostRole, greatestToken: FencingToken?) {
        self.host = host
        self.role = role
        self.policy = policy
        self.greatestToken = greatestToken
    }

    mutating func policyChanged(_ policy: LeasePolicy) { self.policy = policy }

    // MARK: Whether there is a lease to be had

    /// Whether this host may only look, so that it is given no lease.
    var mayOnlyLook: Bool { role == .readOnly }

    /// - Returns: whether it is another one than before.
    mutating func roleIs(_ role: HostRole) -> Bool {
        defer { self.role = role }
        return role != self.role
    }

    /// Whether the cloud left the last few requests unanswered.
    var isCloudUnreachable: Bool { failures >= LeaseTiming.unreachableAfter }

    mutating func answered() { failures = 0 }

    mutating func unanswered() { failures += 1 }

    /// Whether a link is allowed without a lease (rule 4).
    func mayGoUnleased(at now: MonotonicTime) -> Bool {
        policy == .keep && (isCloudUnreachable || mayOnlyLook) && !isElsewhere(at: now)
    }

    /// Whether another host may have the meter, by what was last heard.
    func isElsewhere(at now: MonotonicTime) -> Bool { elsewhereUntil.map { now < $0 } ?? false }

    // MARK: Who has the meter

    mutating func heard(_ lease: LeaseView) { greatestToken = max(greatestToken ?? lease.token, lease.token) }

    /// This host has it, or may have it now.
    mutating func isHere() { elsewhereUntil = nil }

    mutating func refused(_ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, until time: MonotonicTime) {
        if lease?.holder != host, reason != .released { elsewhereUntil = time }
    }

    /// The cloud said who has the meter.
    mutating func seen(_ lease: LeaseView, at now: MonotonicTime) {
        heard(lease)
        switch lease.state {
        case .free: elsewhereUntil = nil
        // Of a host that has gone for good it is told again and again, to one that never asks for the meter.
        case .expired where mayOnlyLook && elsewhereUntil != nil && lease.holder != host: break
        case .held, .revoking, .expired:
            elsewhereUntil = lease.holder == host ? nil : now + lease.remaining + lease.terms.lockDelay
        }
    }

    // MARK: What was given back

    mutating func gaveBack(_ token: FencingToken) { releasedThrough = max(releasedThrough ?? token, token) }

    /// The release of this token got no answer, so it may arrive at any time: this very token must not be granted again.
    mutating func gaveBackUnanswered(_ token: FencingToken) {
        guard token < .max else { return }
        let next = FencingToken(rawValue: token.rawValue + 1)
        greatestToken = max(greatestToken ?? next, next)
    }

    /// A grant with such a token (the same session asked again before the release arrived) is of no use: the release may
    /// arrive at any time.
    func isGivenBack(_ token: FencingToken) -> Bool { releasedThrough.map { token <= $0 } ?? false }

    // MARK: What people want

    /// The meter is wanted as never before: an earlier take-over is not meant any more.
    mutating func wanted(_ intent: LeaseIntent, at now: MonotonicTime) { takeover = TakeoverIntent(intent, at: now) }

    mutating func dropTakeover() { takeover = nil }

    /// The token of the grant to take over, if a person wants that and it is known.
    mutating func takeoverTarget(at now: MonotonicTime) -> FencingToken? {
        if takeover?.isOver(at: now) == true { takeover = nil }
        return takeover?.target
    }

    /// As `TakeoverIntent.refused`.
    mutating func goesOnAsTakeover(
        after reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, asked: FencingToken?, at now: MonotonicTime
    ) -> Bool {
        let goesOn = takeover?.refused(reason, lease, asked: asked, at: now) ?? false
        if !goesOn { takeover = nil }
        return goesOn
    }

    /// Until when the host does not ask by itself, because a person wanted the meter elsewhere.
    var pausedUntil: MonotonicTime? { pause?.until }

    /// A lease was lost because somebody wants the meter elsewhere.
    mutating func pause(for token: FencingToken, at now: MonotonicTime) {
        pause = Pause(until: now + LeaseTiming.pauseAfterRevocation, token: token)
    }

    mutating func endPause() { pause = nil }

    /// The host that took the meter over gave it back, as it does if it cannot hear the meter: nobody wants it elsewhere
    /// any more.
    mutating func endPause(ifGivenBack lease: LeaseView) {
        if let pause, lease.state == .free, lease.token > pause.token { self.pause = nil }
    }
}
