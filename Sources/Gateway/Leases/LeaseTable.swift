import Domain
import Logging

/// Lease machines of all meters that a session uses or that were ever leased.
final class LeaseTable {
    struct Entry {
        fileprivate(set) var machine: LeaseMachine
        fileprivate(set) var transport = LeaseTransport.usb
        fileprivate var requestID: RequestID?
        /// Id under which the authority leases the meter: the main id if the meter has two.
        fileprivate(set) var leasedAs: MeterID
        fileprivate(set) var searchTime = LeaseTiming.searchTime
        /// Reports verdicts to the session. If nil, `forgetUnused` may drop the entry.
        fileprivate(set) var tell: (@Sendable (LinkVerdict) -> Void)?
        fileprivate var callsUnderWay = 0
    }

    /// Receives the current time and random bits. Returns the action to perform.
    typealias Event = (inout LeaseMachine, MonotonicTime, UInt64) -> LeaseMachine.Action

    private let identity: LeaseKeeper.Identity
    private let hostPolicy: LeasePolicy
    private var zonePolicy: LeasePolicy
    private let timeToLive: Duration
    private let earlierTokens: [MeterID: FencingToken]
    private let tokens: Feed<MeterID>
    private let loop: any SessionLoop
    private var rng: any RandomNumberGenerator & Sendable
    private let logger: Logger
    private let log: LogKeeper?
    private let changes: ChangeMarks
    private(set) var entries: [MeterID: Entry] = [:] { didSet { changes.mark(.zone) } }
    /// Role that the lease machines use. `readOnly` only once the leases' holders are known, because a read-only host
    /// uses only free meters.
    var roleInForce = HostRole.full

    init(
        of identity: LeaseKeeper.Identity, hostPolicy: LeasePolicy, zonePolicy: LeasePolicy, timeToLive: Duration,
        earlierTokens: [MeterID: FencingToken], tokens: Feed<MeterID>, loop: any SessionLoop,
        rng: any RandomNumberGenerator & Sendable, logger: Logger, log: LogKeeper?, changes: ChangeMarks
    ) {
        self.changes = changes
        self.identity = identity
        self.hostPolicy = hostPolicy
        self.zonePolicy = zonePolicy
        self.timeToLive = timeToLive
        self.earlierTokens = earlierTokens
        self.tokens = tokens
        self.loop = loop
        self.rng = rng
        self.logger = logger
        self.log = log
    }

    subscript(meter: MeterID) -> Entry? { entries[meter] }

    var meters: [MeterID] { entries.keys.sorted() }

    var nextWake: MonotonicTime? { entries.values.compactMap(\.machine.nextWake).min() }

    func nextJeopardy(after now: MonotonicTime) -> MonotonicTime? {
        entries.values.compactMap(\.machine.permit?.jeopardyAt).filter { $0 > now }.min()
    }

    private func entry(_ meter: MeterID) -> Entry {
        Entry(
            machine: LeaseMachine(
                host: identity.host, policy: zonePolicy.stricter(hostPolicy), role: roleInForce,
                greatestToken: earlierTokens[meter]),
            leasedAs: meter)
    }

    // MARK: Events

    func attach(_ meter: MeterID, _ tell: (@Sendable (LinkVerdict) -> Void)?) {
        if tell == nil { entries[meter]?.tell = nil } else { entries[meter, default: entry(meter)].tell = tell }
    }

    func isUsed(_ meter: MeterID, over transport: LeaseTransport) {
        entries[meter, default: entry(meter)].transport = transport
    }

    /// Applies an event to the meter's lease machine and logs changes. Nil for an unknown meter.
    func react(_ meter: MeterID, _ event: Event) -> LeaseMachine.Action? {
        guard let before = entries[meter]?.machine else { return nil }
        let random = rng.next()
        let action = event(&entries[meter, default: entry(meter)].machine, loop.now, random)
        if entries[meter]?.machine.greatestToken != before.greatestToken { tokens.yield(meter) }
        tellLog(of: meter, before, action)
        return action
    }

    private func tellLog(of meter: MeterID, _ before: LeaseMachine, _ action: LeaseMachine.Action) {
        guard let log, let entry = entries[meter] else { return }
        let (had, has) = (before.use(at: loop.now), entry.machine.use(at: loop.now))
        guard had != has else { return }
        if had != .none { log.letGo(meter, LogHolding.End(had, has, action)) }
        switch has {
        case .none: break
        case .leased(let token): log.held(meter, token, over: entry.transport)
        case .unleased: log.held(meter, nil, over: entry.transport)
        }
    }

    func change(_ meter: MeterID, _ event: (inout LeaseMachine) -> Void) {
        if entries[meter] != nil { event(&entries[meter, default: entry(meter)].machine) }
    }

    func cloudReached() {
        for meter in meters { entries[meter]?.machine.cloudReached(at: loop.now, random: rng.next()) }
    }

    func policyIs(_ policy: LeasePolicy) {
        zonePolicy = policy
        for meter in meters { entries[meter]?.machine.policyChanged(policy.stricter(hostPolicy)) }
    }

    /// Adopts the zone's policy, unless this host's own is `strict`.
    func learnPolicy(_ policy: LeasePolicy) {
        if hostPolicy == .keep, policy != zonePolicy { policyIs(policy) }
    }

    func granted(_ lease: LeaseView, for meter: MeterID) {
        entries[meter]?.leasedAs = lease.meter
        entries[meter]?.searchTime = LeaseTiming.searchTime(after: lease)
    }

    // MARK: Verdicts

    /// Permits use without a lease. Warns only if another host has the lease or the cloud is unreachable: after a join,
    /// this host requests the lease anyway.
    func permitUnleased(_ meter: MeterID) {
        guard let entry = entries[meter] else { return }
        let isConflict = if case .unleased(.some) = entry.machine.phase(at: loop.now) { true } else { false }
        let isNews = isConflict || entry.machine.isCloudUnreachable
        logger.log(
            level: isNews ? .warning : .debug, "meter used without lease", metadata: ["meter.id": "\(meter)"])
        entry.tell?(.permitted(.unleased))
    }

    /// Reports a refusal to the session, unless the lease machine no longer waits for the lease.
    func refuse(_ meter: MeterID, _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?) {
        guard let entry = entries[meter], case .waiting = entry.machine.phase(at: loop.now) else { return }
        let holder = lease?.holder == identity.host ? "an earlier run of this host" : lease?.holderName
        logger.info(
            "lease refused",
            metadata: ["meter.id": "\(meter)", "reason": "\(reason.rawValue)", "holder": "\(holder ?? "nobody")"])
        entry.tell?(.refused(LinkRefusal(reason: reason, holder: holder, remaining: lease?.remaining)))
    }

    // MARK: Calls

    func callBegan(_ meter: MeterID) { entries[meter]?.callsUnderWay += 1 }

    func callEnded(_ meter: MeterID) { entries[meter]?.callsUnderWay -= 1 }

    /// Returns a lease request; nil for an unknown meter. With `again`, it has the same id as the last one.
    func acquire(_ meter: MeterID, again: Bool, takeover: FencingToken?) -> LeaseAcquire? {
        guard let entry = entries[meter] else { return nil }
        let known = again ? entry.requestID : nil
        let requestID = known ?? RequestID(using: &rng)
        entries[meter]?.requestID = requestID
        return LeaseAcquire(
            requestID: requestID, host: identity.host, hostName: identity.hostName, session: identity.session,
            previousSession: identity.previousSession, timeToLive: timeToLive, transport: entry.transport,
            policy: hostPolicy, takeover: takeover, tokenFloor: entry.machine.greatestToken)
    }

    /// Begins the renewals that are due or nearly due, and returns their leases.
    func joinRenewal(at now: MonotonicTime) -> [(meter: MeterID, lease: HeldLease)] {
        meters.compactMap { meter in
            let random = rng.next()
            guard let token = entries[meter]?.machine.joinRenewal(at: now, random: random), let entry = entries[meter]
            else { return nil }
            return (meter, HeldLease(meter: entry.leasedAs, token: token))
        }
    }

    func isGivingBack(_ meter: MeterID) -> Bool {
        guard let entry = entries[meter], !entry.machine.isCloudUnreachable else { return false }
        return switch entry.machine.phase(at: loop.now) {
        case .stopping, .releasing: true
        // A pending request may still be granted; that lease must then be released.
        case .none: entry.callsUnderWay > 0
        case .requesting, .waiting, .barred, .held, .jeopardy, .lost, .unleased: false
        }
    }

    /// Keeps entries with a pending request, because a lease granted late must be released. Keeps fencing tokens too,
    /// because they are needed as long as meterd runs.
    func forgetUnused(_ meter: MeterID) {
        guard let entry = entries[meter], entry.tell == nil, entry.callsUnderWay == 0,
            entry.machine.greatestToken == nil, entry.machine.phase(at: loop.now) == .none
        else { return }
        entries[meter] = nil
    }
}
