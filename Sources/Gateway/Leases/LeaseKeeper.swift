package import Domain
package import Logging

/// Holds this host's leases: one machine for each meter, and one conversation with the authority for all of them.
///
/// An actor on the loop, where the sessions are, so that a permission and its end take effect without changing threads.
/// Requests leave through `run`, whose tasks alone wait for the cloud: however long they hang, the sessions' own hard
/// stops and this actor's timers go on.
package actor LeaseKeeper {
    /// Who this host is, as it tells the authority.
    package struct Identity: Hashable, Sendable {
        package var host: HostID
        package var hostName: String
        /// The present run of the program.
        package var session: SessionID
        /// The run before it, if the program holds its state directory's lock, so that the earlier run must have ended.
        package var previousSession: SessionID?

        package init(host: HostID, hostName: String, session: SessionID, previousSession: SessionID? = nil) {
            self.host = host
            self.hostName = hostName
            self.session = session
            self.previousSession = previousSession
        }
    }

    struct Entry {
        var machine: LeaseMachine
        var transport = LeaseTransport.usb
        /// The id of the last acquire.
        var requestID: RequestID?
        /// The id under which the authority leases the meter: the main one, if two ids turned out to be one meter.
        var leasedAs: MeterID
        /// The search time that came with the grant; see `searchTime(for:)`.
        var searchTime = LeaseTiming.searchTime
        /// Tells the session of a verdict. Without a session, the entry goes as soon as it is of no use
        /// (`forgetUnused`).
        var tell: (@Sendable (LinkVerdict) -> Void)?
        /// Calls handed to `run` for the meter that have not ended.
        var callsUnderWay = 0
    }

    /// What a task may wait for.
    private enum Awaited: Hashable {
        /// No call is under way.
        case quiet
        /// The list of leases came, or could not be fetched.
        case list
        /// The lease of this meter was given back, or the authority could not be told.
        case release(MeterID)
    }

    package nonisolated let identity: Identity
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The moments at which the authority answered again after a failure.
    package nonisolated let recoveries = Feed<MonotonicTime>()

    /// The tokens of leases granted to this run.
    package nonisolated let grants = Feed<FencingToken>()

    /// Meters of which a greater token was heard, from any host's lease.
    package nonisolated let tokens = Feed<MeterID>()

    nonisolated let loop: any SessionLoop
    nonisolated let authority: any LeaseAuthority
    nonisolated let calls: AsyncStream<Call>
    nonisolated let callSink: AsyncStream<Call>.Continuation
    private let hostPolicy: LeasePolicy
    private let timeToLive: Duration
    private let earlierTokens: [MeterID: FencingToken]
    private var zonePolicy: LeasePolicy
    /// What the cloud lets this host do, as it last said.
    private(set) var roleInZone = HostRole.full
    /// The role that the machines were told. A host that may only look uses what nobody has, so it first has to know
    /// who has what.
    private var roleInForce = HostRole.full
    private(set) var entries: [MeterID: Entry] = [:]
    private(set) var board: LeaseBoard
    /// Calls handed to `run` that have not ended.
    package private(set) var callsUnderWay = 0
    /// Why the authority could not be asked, if the last call failed.
    package private(set) var lastFailure: String?
    private let logger: Logger
    /// The meters' log, if this host keeps one.
    private let log: LogKeeper?
    private var rng: any RandomNumberGenerator & Sendable
    private var alarm: Alarm
    private var isListing = false
    /// The event stream was opened while the list was on its way, so that changes between the two were told by neither.
    private var isListTooOld = false
    private var isShuttingDown = false
    /// Shut down: timers are no longer set.
    private var isOver = false
    private var waits: [Awaited: [CheckedContinuation<Void, Never>]] = [:]

    /// - Parameters:
    ///   - hostPolicy: `strict` if this host wants it stricter than its zone.
    ///   - zonePolicy: the last known one, which applies to a host that starts without its cloud.
    ///   - timeToLive: what is asked for; the zone caps it.
    ///   - tokens: the greatest that earlier runs heard of in this zone: the authority may have forgotten them.
    package init(
        identity: Identity, authority: any LeaseAuthority, hostPolicy: LeasePolicy = .keep, zonePolicy: LeasePolicy,
        timeToLive: Duration = LeaseTerms.timeToLiveRange.upperBound, tokens: [MeterID: FencingToken] = [:],
        loop: any SessionLoop,
        rng: any RandomNumberGenerator & Sendable, logger: Logger, log: LogKeeper? = nil
    ) {
        self.identity = identity
        self.authority = authority
        self.hostPolicy = hostPolicy
        self.zonePolicy = zonePolicy
        self.timeToLive = timeToLive
        earlierTokens = tokens
        self.loop = loop
        self.rng = rng
        self.logger = logger
        self.log = log
        board = LeaseBoard(host: identity.host)
        alarm = Alarm(on: loop)
        (calls, callSink) = AsyncStream.makeStream(of: Call.self)
    }

    // MARK: Events in the cloud

    package func handle(_ event: CloudEvent) {
        let now = loop.now
        switch event {
        case .opened:
            for meter in meters { entries[meter]?.machine.cloudReached(at: now, random: nextRandom()) }
            isListTooOld = isListing
            list()
        case .lease(let lease):
            board.update(lease, at: now)
            for meter in meters where entries[meter]?.leasedAs == lease.meter {
                react(meter) { $0.leaseSeen(lease, at: $1, random: $2) }
            }
        case .offer(let meter, _):
            for own in meters where entries[own]?.leasedAs == meter {
                react(own) { machine, now, _ in machine.offered(at: now) }
            }
        case .changed, .interest, .command, .log, .ping:
            break
        }
        arm()
    }

    /// The zone's policy, as the account or a grant gives it.
    package func policyIs(_ policy: LeasePolicy) {
        zonePolicy = policy
        for meter in meters { entries[meter]?.machine.policyChanged(policy.stricter(hostPolicy)) }
    }

    /// What this host may do in the zone, as the account or a refusal says.
    package func roleIs(_ role: HostRole) {
        if role == .readOnly, roleInZone != role { logger.notice("this host may only look: it asks for no leases") }
        roleInZone = role
        guard role == .full || board.isKnown else { return list() }
        enforceRole()
    }

    private func enforceRole() {
        guard roleInForce != roleInZone else { return }
        roleInForce = roleInZone
        for meter in meters {
            learnHolder(of: meter)
            react(meter) { [roleInZone] machine, now, _ in machine.roleIs(roleInZone, at: now) }
        }
    }

    /// Who has a meter, for a machine that asks nobody.
    private func learnHolder(of meter: MeterID) {
        guard roleInForce == .readOnly, let lease = board.lease(of: leasedAs(meter), at: loop.now) else { return }
        react(meter) { $0.leaseSeen(lease, at: $1, random: $2) }
    }

    // MARK: Calls from sessions

    /// - Parameter tell: hears the verdicts on the meter from now on. Without one, nobody here wants the meter any
    ///   more.
    func attached(_ meter: MeterID, _ tell: (@Sendable (LinkVerdict) -> Void)?) {
        guard let tell else {
            entries[meter]?.tell = nil
            react(meter) { machine, now, _ in machine.unwanted(at: now) }
            return forgetUnused(meter)
        }
        entries[meter, default: entry(meter)].tell = tell
    }

    func asked(for meter: MeterID, _ intent: LeaseIntent, over transport: LeaseTransport, isUp: Bool) {
        entries[meter, default: entry(meter)].transport = transport
        learnHolder(of: meter)
        react(meter) { machine, now, _ in
            isUp ? machine.foundOpen(intent, at: now) : machine.wanted(intent, at: now)
        }
    }

    func linkCameUp(_ meter: MeterID) {
        entries[meter]?.machine.linkUp()
        arm()
    }

    // MARK: Closing

    /// Gives everything back. Sessions have closed their channels before; any that still has one is told to close it.
    ///
    /// - Parameter patience: how long to wait for a cloud that does not answer. What could not be given back is free
    ///   for others when its time is over, and for this host's next run at once.
    package func shutdown(patience: Duration = .seconds(3)) async {
        isShuttingDown = true
        for meter in meters { react(meter) { machine, now, _ in machine.unwanted(at: now) } }
        if callsUnderWay > 0 { await wait(for: .quiet, patience) }
        let left = meters.count { entries[$0]?.machine.phase(at: loop.now) != LeaseMachine.Phase.none }
        if left > 0 { logger.warning("leases not given back", metadata: ["count": "\(left)"]) }
        isOver = true
        for awaited in waits.keys { endWaits(for: awaited) }
        callSink.finish()
        arm()
    }

    // MARK: Waits

    /// Waits for an event, at most until the patience is over.
    private func wait(for awaited: Awaited, _ patience: Duration) async {
        let timer = loop.schedule(at: loop.now + patience) { [weak self] in
            self?.assumeIsolated { $0.endWaits(for: awaited) }
        }
        await withCheckedContinuation { waits[awaited, default: []].append($0) }
        loop.cancel(timer)
    }

    private func endWaits(for awaited: Awaited) {
        for waiter in waits.removeValue(forKey: awaited) ?? [] { waiter.resume() }
    }

    /// Returns once a lease that this host is giving back is free for others.
    ///
    /// - Parameter patience: how long to wait for an authority that does not answer.
    func givenBack(_ meter: MeterID, within patience: Duration) async {
        guard !isOver, isGivingBack(meter) else { return }
        await wait(for: .release(meter), patience)
    }

    private func isGivingBack(_ meter: MeterID) -> Bool {
        guard let entry = entries[meter], !entry.machine.isCloudUnreachable else { return false }
        return switch entry.machine.phase(at: loop.now) {
        case .stopping, .releasing: true
        // A grant may be on its way, which is then given back.
        case .none: entry.callsUnderWay > 0
        case .requesting, .waiting, .barred, .held, .jeopardy, .lost, .unleased: false
        }
    }

    // MARK: Machines

    /// Meters that a session uses, or that were ever leased.
    package var meters: [MeterID] { entries.keys.sorted() }

    private func nextRandom() -> UInt64 { rng.next() }

    /// Applies an event to a meter's machine and performs the action it returns.
    func react(_ meter: MeterID, _ event: (inout LeaseMachine, MonotonicTime, UInt64) -> LeaseMachine.Action) {
        guard let before = entries[meter]?.machine else { return }
        let random = nextRandom()
        let action = event(&entries[meter, default: entry(meter)].machine, loop.now, random)
        if greatestToken(of: meter) != before.greatestToken { tokens.yield(meter) }
        tellLog(of: meter, before, action)
        perform(action, for: meter)
        if !isGivingBack(meter) { endWaits(for: .release(meter)) }
        arm()
    }

    /// Tells the meter's log where this host got the meter, or has it no more.
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

    /// Drops the entry of a meter that no session uses, unless a call is under way or a token is known: a grant on its
    /// way has to be given back, and known tokens matter as long as this runs.
    private func forgetUnused(_ meter: MeterID) {
        guard let entry = entries[meter], entry.tell == nil, entry.callsUnderWay == 0,
            entry.machine.greatestToken == nil, entry.machine.phase(at: loop.now) == .none
        else { return }
        entries[meter] = nil
    }

    package func greatestToken(of meter: MeterID) -> FencingToken? { entries[meter]?.machine.greatestToken }

    private func entry(_ meter: MeterID) -> Entry {
        Entry(
            machine: LeaseMachine(
                host: identity.host, policy: zonePolicy.stricter(hostPolicy), role: roleInForce,
                greatestToken: earlierTokens[meter]),
            leasedAs: meter)
    }

    private func perform(_ action: LeaseMachine.Action, for meter: MeterID) {
        guard let entry = entries[meter] else { return }
        switch action {
        case .sendAcquire(let again, let takeover): acquire(meter, again: again, takeover: takeover)
        case .sendRenewal: renew()
        case .sendRelease(let token): call(.release(HeldLease(meter: entry.leasedAs, token: token), of: meter))
        case .permit(let permit): entry.tell?(.permitted(.leased(permit)))
        case .permitUnleased:
            tellUnleased(meter, entry)
            entry.tell?(.permitted(.unleased))
        case .withdraw(let cause): withdraw(meter, cause)
        case .refuse: tellRefusal(meter, .held, board.lease(of: entry.leasedAs, at: loop.now))
        case .bar:
            logger.info("no lease is asked for: this host may only look", metadata: ["meter.id": "\(meter)"])
            entry.tell?(.barred)
        case .joinQueue: call(.enqueue(entry.leasedAs, of: meter))
        case .leaveQueue: call(.leaveQueue(entry.leasedAs))
        case .none: break
        }
    }

    /// A host that joins a cloud while its meters are in use is about to ask for their leases, which calls for no
    /// warning.
    private func tellUnleased(_ meter: MeterID, _ entry: Entry) {
        let isConflict = if case .unleased(.some) = entry.machine.phase(at: loop.now) { true } else { false }
        let isNews = isConflict || entry.machine.isCloudUnreachable
        logger.log(
            level: isNews ? .warning : .debug, "a meter is used without a lease", metadata: ["meter.id": "\(meter)"])
    }

    private func acquire(_ meter: MeterID, again: Bool, takeover: FencingToken?) {
        guard var entry = entries[meter] else { return }
        let known = again ? entry.requestID : nil
        let requestID = known ?? RequestID(using: &rng)
        entry.requestID = requestID
        entries[meter] = entry
        let request = LeaseAcquire(
            requestID: requestID, host: identity.host, hostName: identity.hostName, session: identity.session,
            previousSession: identity.previousSession, timeToLive: timeToLive, transport: entry.transport,
            policy: hostPolicy, takeover: takeover, tokenFloor: entry.machine.greatestToken)
        call(.acquire(request, of: meter, sentAt: loop.now))
    }

    /// One request for all leases that are due, or nearly.
    private func renew() {
        let now = loop.now
        let joining = meters.compactMap { meter -> (meter: MeterID, lease: HeldLease)? in
            let random = nextRandom()
            guard let token = entries[meter]?.machine.joinRenewal(at: now, random: random), let entry = entries[meter]
            else { return nil }
            return (meter, HeldLease(meter: entry.leasedAs, token: token))
        }
        guard !joining.isEmpty else { return }
        call(.renew(joining.map(\.lease), of: joining.map(\.meter), sentAt: now))
    }

    private func withdraw(_ meter: MeterID, _ cause: LeaseMachine.Withdrawal) {
        let holder = board.lease(of: meter, at: loop.now)?.holderName ?? "another host"
        let words =
            switch cause {
            case .unwanted: "nobody wants it here"
            case .revoked: "it is wanted elsewhere: its lease was revoked"
            case .takenOver: "\(holder) has it now"
            case .hardStop: "its lease could not be renewed in time"
            case .unknown: "the cloud knows nothing of its lease"
            case .barred: "this host may only look, and its zone has become strict"
            }
        logger.notice("lease lost", metadata: ["meter.id": "\(meter)", "cause": "\(words)"])
        guard let tell = entries[meter]?.tell else {
            return react(meter) { machine, now, _ in machine.channelClosed(.letGo, at: now) }
        }
        tell(.withdrawn(words))
    }

    // MARK: Calls

    private func call(_ call: Call) {
        if case .terminated = callSink.yield(call) { return }
        callsUnderWay += 1
        for meter in call.meters { entries[meter]?.callsUnderWay += 1 }
    }

    private func list() {
        guard !isListing, !isShuttingDown else { return }
        isListing = true
        board.listAsked()
        call(.list)
    }

    /// Fetches the list, and returns when it came or the patience is over.
    func listed(within patience: Duration) async {
        list()
        if isListing { await wait(for: .list, patience) }
    }

    /// Called once the outcome of a call has been handled.
    func callEnded(_ call: Call) {
        if case .list = call {
            isListing = false
            endWaits(for: .list)
            if isListTooOld {
                isListTooOld = false
                list()
            }
        }
        callsUnderWay -= 1
        for meter in call.meters {
            entries[meter]?.callsUnderWay -= 1
            if !isGivingBack(meter) { endWaits(for: .release(meter)) }
            forgetUnused(meter)
        }
        arm()
        if callsUnderWay == 0 { endWaits(for: .quiet) }
    }

    // MARK: Outcomes of calls

    func leasedAs(_ meter: MeterID) -> MeterID { entries[meter]?.leasedAs ?? meter }

    func acquired(_ outcome: Result<AcquireOutcome, SyncFailure>, _ meter: MeterID, sentAt: MonotonicTime) {
        noted(outcome)
        switch outcome {
        case .success(.granted(let lease)):
            board.update(lease, at: loop.now)
            entries[meter]?.leasedAs = lease.meter
            entries[meter]?.searchTime = LeaseTiming.searchTime(after: lease)
            grants.yield(lease.token)
            if hostPolicy == .keep, lease.terms.policy != zonePolicy { policyIs(lease.terms.policy) }
            logger.info(
                "lease granted", metadata: ["meter.id": "\(meter)", "lease.token": "\(lease.token.rawValue)"])
            react(meter) { $0.granted(lease, sentAt: sentAt, at: $1, random: $2) }
        case .success(.refused(let reason, let lease, let retryAfter)):
            if let lease { board.update(lease, at: loop.now) }
            react(meter) { $0.refused(reason, lease, retryAfter: retryAfter, at: $1, random: $2) }
            tellRefusal(meter, reason, lease)
        // Settled without a lease, once it is known who has what.
        case .failure(let failure) where failure.kind == .readOnly: roleIs(.readOnly)
        case .failure(let failure):
            react(meter) { $0.requestFailed(retryAfter: failure.retryAfter, at: $1, random: $2) }
        }
    }

    /// Only while the request still stands: an answer that comes too late refuses nothing.
    private func tellRefusal(_ meter: MeterID, _ reason: LeaseAnswer.Refusal.Reason, _ lease: LeaseView?) {
        guard let entry = entries[meter], case .waiting = entry.machine.phase(at: loop.now) else { return }
        let holder = lease?.holder == identity.host ? "an earlier run of this host" : lease?.holderName
        logger.info(
            "lease refused",
            metadata: ["meter.id": "\(meter)", "reason": "\(reason.rawValue)", "holder": "\(holder ?? "nobody")"])
        entry.tell?(.refused(LinkRefusal(reason: reason, holder: holder, remaining: lease?.remaining)))
    }

    func renewed(
        _ outcome: Result<[RenewOutcome], SyncFailure>, _ leases: [HeldLease], of meters: [MeterID],
        sentAt: MonotonicTime
    ) {
        noted(outcome)
        let answers: [RenewOutcome] = if case .success(let answers) = outcome { answers } else { [] }
        for (index, meter) in meters.enumerated() {
            // If the authority sends too few answers, the remaining renewals have failed.
            guard index < answers.count else {
                react(meter) { machine, now, _ in machine.renewalFailed(at: now) }
                continue
            }
            switch answers[index] {
            case .renewed(let lease):
                board.update(lease, at: loop.now)
                // A stricter zone policy takes effect at once, for all of this host's meters; a laxer one at the next
                // acquire.
                if lease.terms.policy == .strict, hostPolicy == .keep, zonePolicy == .keep { policyIs(.strict) }
                react(meter) { $0.renewed(lease, sentAt: sentAt, at: $1, random: $2) }
            case .lost(let loss, let lease):
                if let lease { board.update(lease, at: loop.now) }
                react(meter) { $0.renewalLost(loss, of: leases[index].token, lease, at: $1, random: $2) }
            }
        }
    }

    func released(_ outcome: Result<Void, SyncFailure>, _ lease: HeldLease, of meter: MeterID) {
        noted(outcome)
        switch outcome {
        case .success:
            logger.info("lease released", metadata: ["meter.id": "\(meter)", "lease.token": "\(lease.token.rawValue)"])
            board.released(lease)
            react(meter) { machine, now, _ in machine.released(lease.token, at: now) }
        case .failure:
            react(meter) { $0.releaseFailed(lease.token, at: $1, random: $2) }
            endWaits(for: .release(meter))
        }
    }

    func enqueued(_ outcome: Result<Void, SyncFailure>, _ meter: MeterID) {
        noted(outcome)
        if case .failure = outcome { entries[meter]?.machine.queueLost() }
    }

    func listed(_ outcome: Result<[LeaseView], SyncFailure>) {
        noted(outcome)
        switch outcome {
        case .success(let leases):
            board.list(leases, at: loop.now)
            enforceRole()
            // Catches up on what was sent while no event stream was open.
            for meter in meters {
                guard let lease = board.lease(of: leasedAs(meter), at: loop.now) else { continue }
                react(meter) { $0.leaseSeen(lease, at: $1, random: $2) }
            }
        case .failure: board.listFailed(at: loop.now)
        }
    }

    /// Keeps what the last outcome says about the authority.
    func noted(_ outcome: Result<some Sendable, SyncFailure>) {
        switch outcome {
        // A refusal is an answer too.
        case .failure(let failure) where failure.kind != .readOnly:
            if lastFailure == nil { logger.warning("the cloud does not answer", metadata: ["cause": "\(failure)"]) }
            lastFailure = failure.message
        case .success, .failure:
            if lastFailure != nil {
                logger.notice("the cloud answers again")
                recoveries.yield(loop.now)
            }
            lastFailure = nil
        }
    }

    // MARK: Time

    /// Sets the alarm to the next moment at which anything is due. One that rings too early does no harm.
    func arm() {
        var due = entries.values.compactMap(\.machine.nextWake).min()
        if !isListing, !isShuttingDown, let listAt = board.listAt { due = min(due ?? listAt, listAt) }
        alarm.set(to: isOver ? nil : due) { [weak self] in
            self?.assumeIsolated { keeper in
                keeper.alarm.rang()
                keeper.wake()
            }
        }
    }

    private func wake() {
        let now = loop.now
        if let listAt = board.listAt, listAt <= now { list() }
        for meter in meters {
            while let next = entries[meter]?.machine.nextWake, next <= now {
                react(meter) { $0.woke(at: $1, random: $2) }
            }
        }
        arm()
    }
}
