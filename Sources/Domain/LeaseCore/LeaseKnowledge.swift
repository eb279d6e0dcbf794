/// Facts about one meter that a host keeps across lease states.
struct LeaseKnowledge: Sendable {
    private struct Pause: Sendable {
        var until: MonotonicTime
        /// Token of the lost lease.
        var token: FencingToken
    }

    private let host: HostID
    /// The stricter of the host's policy and the zone's last known one.
    private(set) var policy: LeasePolicy
    private var role: HostRole
    private(set) var failures = 0
    /// Greatest fencing token so far, plus one if this host's release of it was not answered. The next grant must not
    /// have a smaller one.
    private(set) var greatestToken: FencingToken?
    /// Greatest fencing token that this host released. A late grant of it, or of a smaller one, is void: the release
    /// may still arrive.
    private var releasedThrough: FencingToken?
    /// Time until which another host may have the meter, according to the cloud's last message.
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

    // MARK: Policy, role and reachability

    var mayOnlyLook: Bool { role == .readOnly }

    mutating func roleIs(_ role: HostRole) -> Bool {
        defer { self.role = role }
        return role != self.role
    }

    var isCloudUnreachable: Bool { failures >= LeaseTiming.unreachableAfter }

    mutating func answered() { failures = 0 }

    mutating func unanswered() { failures += 1 }

    /// Whether a link may be opened without a lease (rule 4).
    func mayGoUnleased(at now: MonotonicTime) -> Bool {
        policy == .keep && (isCloudUnreachable || mayOnlyLook) && !isElsewhere(at: now)
    }

    func isElsewhere(at now: MonotonicTime) -> Bool { elsewhereUntil.map { now < $0 } ?? false }

    // MARK: The present holder

    mutating func heard(_ lease: LeaseView) { greatestToken = max(greatestToken ?? lease.token, lease.token) }

    /// Records that no other host has the meter.
    mutating func isHere() { elsewhereUntil = nil }

    mutating func refused(_ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, until time: MonotonicTime) {
        if lease?.holder != host, reason != .released { elsewhereUntil = time }
    }

    mutating func seen(_ lease: LeaseView, at now: MonotonicTime) {
        heard(lease)
        switch lease.state {
        case .free: elsewhereUntil = nil
        // The cloud reports an expired holder for ever, so do not prolong a read-only host's wait each time.
        case .expired where mayOnlyLook && elsewhereUntil != nil && lease.holder != host: break
        case .held, .revoking, .expired:
            elsewhereUntil = lease.holder == host ? nil : now + lease.remaining + lease.terms.lockDelay
        }
    }

    // MARK: Released tokens

    mutating func gaveBack(_ token: FencingToken) { releasedThrough = max(releasedThrough ?? token, token) }

    /// Requires a greater token: the unanswered release may still arrive, and would end a new lease with the same
    /// token.
    mutating func gaveBackUnanswered(_ token: FencingToken) {
        guard token < .max else { return }
        let next = FencingToken(rawValue: token.rawValue + 1)
        greatestToken = max(greatestToken ?? next, next)
    }

    func isGivenBack(_ token: FencingToken) -> Bool { releasedThrough.map { token <= $0 } ?? false }

    // MARK: Take-over and pause

    mutating func wanted(_ intent: LeaseIntent, at now: MonotonicTime) { takeover = TakeoverIntent(intent, at: now) }

    mutating func dropTakeover() { takeover = nil }

    mutating func takeoverTarget(at now: MonotonicTime) -> FencingToken? {
        if takeover?.isOver(at: now) == true { takeover = nil }
        return takeover?.target
    }

    mutating func goesOnAsTakeover(
        after reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?, asked: FencingToken?, at now: MonotonicTime
    ) -> Bool {
        let goesOn = takeover?.refused(reason, lease, asked: asked, at: now) ?? false
        if !goesOn { takeover = nil }
        return goesOn
    }

    var pausedUntil: MonotonicTime? { pause?.until }

    mutating func pause(for token: FencingToken, at now: MonotonicTime) {
        pause = Pause(until: now + LeaseTiming.pauseAfterRevocation, token: token)
    }

    mutating func endPause() { pause = nil }

    /// Ends the pause if the host that took over has released the meter, for example because the meter is out of its
    /// range.
    mutating func endPause(ifGivenBack lease: LeaseView) {
        if let pause, lease.state == .free, lease.token > pause.token { self.pause = nil }
    }
}
