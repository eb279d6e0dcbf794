package import Domain
package import Logging

/// Holds this host's leases, with one state machine per meter, and sends the requests to the lease authority.
///
/// An actor on the session loop, so that permissions take effect without a thread switch. Only the tasks of `run` wait
/// for the cloud, so hard stops and timers are never delayed.
package actor LeaseKeeper {
    /// Condition that a task awaits. `quiet`: no request is in progress. A failed request also ends a wait for `list`
    /// or `release`.
    private enum Awaited: Hashable { case quiet, list, release(MeterID) }

    package nonisolated let identity: Identity
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Times at which the lease authority answered again after a failure.
    package nonisolated let recoveries = Feed<MonotonicTime>()

    /// Fencing tokens of leases granted to this program run.
    package nonisolated let grants = Feed<FencingToken>()

    /// Meters whose greatest known fencing token rose, in any host's lease.
    package nonisolated let tokens = Feed<MeterID>()

    nonisolated let loop: any SessionLoop
    nonisolated let authority: any LeaseAuthority
    nonisolated let calls: AsyncStream<Call>
    nonisolated let callSink: AsyncStream<Call>.Continuation
    private(set) var roleInZone = HostRole.full { didSet { changes.mark(.zone) } }
    let table: LeaseTable
    private(set) var board: LeaseBoard { didSet { changes.mark(.zone) } }
    package private(set) var callsUnderWay = 0
    /// Error of the last request; nil if the lease authority answered.
    package private(set) var lastFailure: String?
    private let changes: ChangeMarks
    private let logger: Logger
    private var alarm: Alarm
    private var isShuttingDown = false
    /// Whether shutdown is complete; no timers are set from then on.
    private var isOver = false
    private var waits: [Awaited: [CheckedContinuation<Void, Never>]] = [:]

    /// - Parameters:
    ///   - hostPolicy: `strict` if this host is stricter than its zone.
    ///   - zonePolicy: last known policy, for a start without the cloud.
    ///   - timeToLive: requested duration of a lease; the zone caps it.
    ///   - tokens: greatest fencing tokens from earlier runs, which the lease authority may have lost.
    package init(
        identity: Identity, authority: any LeaseAuthority, hostPolicy: LeasePolicy = .keep, zonePolicy: LeasePolicy,
        timeToLive: Duration = LeaseTerms.timeToLiveRange.upperBound, tokens: [MeterID: FencingToken] = [:],
        changes: ChangeMarks = ChangeMarks(), loop: any SessionLoop,
        rng: any RandomNumberGenerator & Sendable, logger: Logger, log: LogKeeper? = nil
    ) {
        self.changes = changes
        self.identity = identity
        self.authority = authority
        self.loop = loop
        self.logger = logger
        table = LeaseTable(
            of: identity, hostPolicy: hostPolicy, zonePolicy: zonePolicy, timeToLive: timeToLive, earlierTokens: tokens,
            tokens: self.tokens, loop: loop, rng: rng, logger: logger, log: log, changes: changes)
        board = LeaseBoard(host: identity.host)
        alarm = Alarm(on: loop)
        (calls, callSink) = AsyncStream.makeStream(of: Call.self)
    }

    // MARK: Events in the cloud

    package func handle(_ event: CloudEvent) {
        let now = loop.now
        switch event {
        case .opened:
            table.cloudReached()
            board.streamOpened()
            list()
        case .lease(let lease):
            board.update(lease, at: now)
            for meter in meters where table[meter]?.leasedAs == lease.meter {
                react(meter) { $0.leaseSeen(lease, at: $1, random: $2) }
            }
        case .offer(let meter, _):
            for own in meters where table[own]?.leasedAs == meter {
                react(own) { machine, now, _ in machine.offered(at: now) }
            }
        case .changed, .interest, .command, .log, .ping:
            break
        }
        arm()
    }

    package func policyIs(_ policy: LeasePolicy) { table.policyIs(policy) }

    package func roleIs(_ role: HostRole) {
        if role == .readOnly, roleInZone != role { logger.notice("host became read-only in its cloud zone") }
        roleInZone = role
        guard role == .full || board.isKnown else { return list() }
        enforceRole()
    }

    private func enforceRole() {
        guard table.roleInForce != roleInZone else { return }
        table.roleInForce = roleInZone
        for meter in meters {
            learnHolder(of: meter)
            react(meter) { [roleInZone] machine, now, _ in machine.roleIs(roleInZone, at: now) }
        }
    }

    /// Passes the meter's holder to the lease machine of a read-only host, which sends no requests.
    private func learnHolder(of meter: MeterID) {
        guard table.roleInForce == .readOnly, let lease = board.lease(of: leasedAs(meter), at: loop.now) else { return }
        react(meter) { $0.leaseSeen(lease, at: $1, random: $2) }
    }

    // MARK: Calls from sessions

    /// - Parameter tell: receives the meter's verdicts; nil if this host no longer wants the meter.
    func attached(_ meter: MeterID, _ tell: (@Sendable (LinkVerdict) -> Void)?) {
        table.attach(meter, tell)
        guard tell == nil else { return }
        react(meter) { machine, now, _ in machine.unwanted(at: now) }
        table.forgetUnused(meter)
    }

    func asked(for meter: MeterID, _ intent: LeaseIntent, over transport: LeaseTransport, isUp: Bool) {
        table.isUsed(meter, over: transport)
        learnHolder(of: meter)
        react(meter) { machine, now, _ in
            isUp ? machine.foundOpen(intent, at: now) : machine.wanted(intent, at: now)
        }
    }

    func linkCameUp(_ meter: MeterID) {
        table.change(meter) { $0.linkUp() }
        arm()
    }

    // MARK: Closing

    /// Releases all leases, and makes sessions close their links.
    ///
    /// - Parameter patience: time to wait for the cloud. An unreleased lease is free for other hosts once it expires,
    ///   and for this host's next run immediately.
    package func shutdown(patience: Duration = .seconds(3)) async {
        isShuttingDown = true
        for meter in meters { react(meter) { machine, now, _ in machine.unwanted(at: now) } }
        if callsUnderWay > 0 { await wait(for: .quiet, patience) }
        let left = meters.count { table[$0]?.machine.phase(at: loop.now) != LeaseMachine.Phase.none }
        if left > 0 {
            logger.warning(
                "leases not released at shutdown: other hosts wait until they expire", metadata: ["count": "\(left)"])
        }
        isOver = true
        for awaited in waits.keys { endWaits(for: awaited) }
        callSink.finish()
        arm()
    }

    // MARK: Waits

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

    /// Waits at most for `patience` until this host has released the meter's lease.
    func givenBack(_ meter: MeterID, within patience: Duration) async {
        guard !isOver, table.isGivingBack(meter) else { return }
        await wait(for: .release(meter), patience)
    }

    // MARK: Machines

    /// Meters that a session uses or that were ever leased.
    package var meters: [MeterID] { table.meters }

    package func greatestToken(of meter: MeterID) -> FencingToken? { table[meter]?.machine.greatestToken }

    func react(_ meter: MeterID, _ event: LeaseTable.Event) {
        guard let action = table.react(meter, event) else { return }
        perform(action, for: meter)
        if !table.isGivingBack(meter) { endWaits(for: .release(meter)) }
        arm()
    }

    private func perform(_ action: LeaseMachine.Action, for meter: MeterID) {
        guard let entry = table[meter] else { return }
        switch action {
        case .sendAcquire(let again, let takeover):
            guard let request = table.acquire(meter, again: again, takeover: takeover) else { return }
            call(.acquire(request, of: meter, sentAt: loop.now))
        case .sendRenewal: renew()
        case .sendRelease(let token): call(.release(HeldLease(meter: entry.leasedAs, token: token), of: meter))
        case .permit(let permit): entry.tell?(.permitted(.leased(permit)))
        case .permitUnleased: table.permitUnleased(meter)
        case .withdraw(let cause): withdraw(meter, cause)
        case .refuse: table.refuse(meter, .held, board.lease(of: entry.leasedAs, at: loop.now))
        case .bar:
            logger.info(
                "lease not requested", metadata: ["meter.id": "\(meter)", "cause": "this host is read-only"])
            entry.tell?(.barred)
        case .joinQueue: call(.enqueue(entry.leasedAs, of: meter))
        case .leaveQueue: call(.leaveQueue(entry.leasedAs))
        case .none: break
        }
    }

    private func renew() {
        let now = loop.now
        let joining = table.joinRenewal(at: now)
        guard !joining.isEmpty else { return }
        call(.renew(joining.map(\.lease), of: joining.map(\.meter), sentAt: now))
    }

    private func withdraw(_ meter: MeterID, _ cause: LeaseMachine.Withdrawal) {
        let holder = board.lease(of: meter, at: loop.now)?.holderName ?? "another host"
        let words = cause.words(holder)
        logger.notice("lease lost", metadata: ["meter.id": "\(meter)", "cause": "\(words)"])
        guard let tell = table[meter]?.tell else {
            return react(meter) { machine, now, _ in machine.channelClosed(.letGo, at: now) }
        }
        tell(.withdrawn(words))
    }

    // MARK: Calls

    private func call(_ call: Call) {
        if case .terminated = callSink.yield(call) { return }
        callsUnderWay += 1
        for meter in call.meters { table.callBegan(meter) }
    }

    private func list() {
        guard !board.isAsked, !isShuttingDown else { return }
        board.listAsked()
        call(.list)
    }

    func listed(within patience: Duration) async {
        list()
        if board.isAsked { await wait(for: .list, patience) }
    }

    func callEnded(_ call: Call) {
        if case .list = call {
            let isTooOld = board.listEnded()
            endWaits(for: .list)
            if isTooOld { list() }
        }
        callsUnderWay -= 1
        for meter in call.meters {
            table.callEnded(meter)
            if !table.isGivingBack(meter) { endWaits(for: .release(meter)) }
            table.forgetUnused(meter)
        }
        arm()
        if callsUnderWay == 0 { endWaits(for: .quiet) }
    }

    // MARK: Outcomes of calls

    func leasedAs(_ meter: MeterID) -> MeterID { table[meter]?.leasedAs ?? meter }

    func acquired(_ outcome: Result<AcquireOutcome, SyncFailure>, _ meter: MeterID, sentAt: MonotonicTime) {
        noted(outcome)
        switch outcome {
        case .success(.granted(let lease)):
            board.update(lease, at: loop.now)
            table.granted(lease, for: meter)
            grants.yield(lease.token)
            table.learnPolicy(lease.terms.policy)
            logger.info(
                "lease granted", metadata: ["meter.id": "\(meter)", "lease.token": "\(lease.token.rawValue)"])
            react(meter) { $0.granted(lease, sentAt: sentAt, at: $1, random: $2) }
        case .success(.refused(let reason, let lease, let retryAfter)):
            if let lease { board.update(lease, at: loop.now) }
            react(meter) { $0.refused(reason, lease, retryAfter: retryAfter, at: $1, random: $2) }
            table.refuse(meter, reason, lease)
        // A read-only host sends no requests: once the leases' holders are known, its lease machines decide about use.
        case .failure(let failure) where failure.kind == .readOnly: roleIs(.readOnly)
        case .failure(let failure):
            react(meter) { $0.requestFailed(retryAfter: failure.retryAfter, at: $1, random: $2) }
        }
    }

    func renewed(
        _ outcome: Result<[RenewOutcome], SyncFailure>, _ leases: [HeldLease], of meters: [MeterID],
        sentAt: MonotonicTime
    ) {
        noted(outcome)
        let answers: [RenewOutcome] = if case .success(let answers) = outcome { answers } else { [] }
        for (index, meter) in meters.enumerated() {
            // The authority sent too few answers: the remaining renewals count as failed.
            guard index < answers.count else {
                react(meter) { machine, now, _ in machine.renewalFailed(at: now) }
                continue
            }
            switch answers[index] {
            case .renewed(let lease):
                board.update(lease, at: loop.now)
                // A stricter zone policy takes effect immediately, a laxer one with the next granted lease.
                if lease.terms.policy == .strict { table.learnPolicy(.strict) }
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
        if case .failure = outcome { table.change(meter) { $0.queueLost() } }
    }

    func listed(_ outcome: Result<[LeaseView], SyncFailure>) {
        noted(outcome)
        switch outcome {
        case .success(let leases):
            board.list(leases, at: loop.now)
            enforceRole()
            // Events may have been missed while the event stream was closed.
            for meter in meters {
                guard let lease = board.lease(of: leasedAs(meter), at: loop.now) else { continue }
                react(meter) { $0.leaseSeen(lease, at: $1, random: $2) }
            }
        case .failure: board.listFailed(at: loop.now)
        }
    }

    func noted(_ outcome: Result<some Sendable, SyncFailure>) {
        switch outcome {
        // A refusal because this host is read-only is an answer, not a failure.
        case .failure(let failure) where failure.kind != .readOnly:
            if lastFailure == nil { logger.warning("cloud request failed", metadata: ["cause": "\(failure)"]) }
            lastFailure = failure.message
        case .success, .failure:
            if lastFailure != nil {
                logger.notice("cloud recovered")
                recoveries.yield(loop.now)
            }
            lastFailure = nil
        }
    }

    // MARK: Time

    /// Sets the timer to the next due time. An early timer is harmless.
    func arm() {
        let listAt = board.isAsked || isShuttingDown ? nil : board.listAt
        let now = loop.now
        // Displayed states change at these times.
        let shown = MonotonicTime.earliest(table.nextJeopardy(after: now), board.nextExpiry(after: now))
        let due = MonotonicTime.earliest(.earliest(table.nextWake, listAt), shown)
        alarm.set(to: isOver ? nil : due) { [weak self] in
            self?.assumeIsolated { keeper in
                keeper.alarm.rang()
                keeper.wake()
            }
        }
    }

    private func wake() {
        let now = loop.now
        changes.mark(.zone)
        if let listAt = board.listAt, listAt <= now { list() }
        for meter in meters {
            while let next = table[meter]?.machine.nextWake, next <= now {
                react(meter) { $0.woke(at: $1, random: $2) }
            }
        }
        arm()
    }
}
