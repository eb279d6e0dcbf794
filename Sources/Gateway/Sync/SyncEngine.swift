package import Domain
package import Logging

/// Runs one membership of a cloud: has `SyncMachine`'s operations performed by the cloud and the store, and reports to
/// it how they ended.
///
/// One engine is one membership, from `run` to `stop`; joining another cloud takes another engine. Everything that
/// happens is an input of one loop, so that the machine sees one thing after another.
package actor SyncEngine {
    /// What the engine needs from its surroundings.
    package struct Dependencies: Sendable {
        package var link: any CloudLink
        package var repository: any SyncRepository
        /// For time and timers.
        package var loop: any SessionLoop
        /// Reports when the network is back; without one, only time ends a wait.
        package var network: (any NetworkMonitor)?
        /// Called with each merge that changed records, after the store has them and before anything else is synced.
        package var changed: @Sendable (MergeOutcome) async -> Void
        /// Called with every event of the stream, in order: `opened` after each gap, leases, offers.
        package var heard: @Sendable (CloudEvent) async -> Void
        /// The name of another host, if known.
        package var hostName: @Sendable (HostID) async -> String?
        /// A date that is known to be right, from which entries that were set aside age; while it is nil, because the
        /// calendar is not confirmed, nothing ages.
        package var confirmedToday: @Sendable () async -> WallTime?
        package var rng: any RandomNumberGenerator & Sendable
        /// Marks of changes that pages show.
        package var changes = ChangeMarks()
        /// The date from which the ages of history and tombstones count; nil for the loop's calendar.
        package var today: (@Sendable () async throws -> WallTime)?

        package init(
            link: any CloudLink, repository: any SyncRepository, loop: any SessionLoop,
            network: (any NetworkMonitor)? = nil, rng: any RandomNumberGenerator & Sendable,
            changed: @escaping @Sendable (MergeOutcome) async -> Void = { _ in },
            heard: @escaping @Sendable (CloudEvent) async -> Void = { _ in },
            hostName: @escaping @Sendable (HostID) async -> String? = { _ in nil },
            confirmedToday: @escaping @Sendable () async -> WallTime? = { nil }
        ) {
            self.link = link
            self.repository = repository
            self.loop = loop
            self.network = network
            self.rng = rng
            self.changed = changed
            self.heard = heard
            self.hostName = hostName
            self.confirmedToday = confirmedToday
        }
    }

    enum Input: Sendable {
        case session(SyncInput)
        /// From the stream with this number.
        case stream(Int, SyncInput)
        case network(NetworkPath)
        case alarm
        /// Stopping took too long.
        case stopIsDue
    }

    /// Each event of the session, with its number (`meterctl sync events`).
    package nonisolated let events = Feed<SyncEntry>()
    /// How each run ended.
    package nonisolated let results = Feed<SyncResult>()

    nonisolated let dependencies: Dependencies
    nonisolated let inbox: AsyncStream<Input>.Continuation
    private let inputs: AsyncStream<Input>
    nonisolated let logger: Logger
    nonisolated let host: HostID
    private var machine: SyncMachine
    private var debounce = NetworkDebounce()
    private var rng: any RandomNumberGenerator & Sendable
    private var alarm: Alarm
    private var stopTimer: LoopTimer?
    private var isStopping = false
    private var isOver = false
    /// The exchange with the cloud that is under way.
    private var exchange: Interruption?
    private var stream: Interruption?
    private var streamNumber = 0
    /// As last logged.
    private var fullness: QuotaState?
    /// Callers that asked for a run and wait for its result.
    private var waiters: [CheckedContinuation<SyncResult?, Never>] = []

    /// - Parameter bringsAll: if this is another zone than the last, others' records are pushed to it too.
    package init(
        zone: String, host: HostID, timing: SyncTiming = SyncTiming(), bringsAll: Bool,
        dependencies: Dependencies,
        logger: Logger
    ) {
        self.dependencies = dependencies
        self.logger = logger
        self.host = host
        rng = dependencies.rng
        alarm = Alarm(on: dependencies.loop)
        machine = SyncMachine(zone: zone, host: host, timing: timing, bringsAll: bringsAll)
        (inputs, inbox) = AsyncStream.makeStream()
    }

    // MARK: Life cycle

    /// Syncs until `stop`. Must not be cancelled: a write under way would end with the task.
    package func run() async {
        await withDiscardingTaskGroup { group in
            if let network = dependencies.network {
                let inbox = inbox
                group.addTask { await network.run { inbox.yield(.network($0)) } }
            }
            send(.started, &group)
            for await input in inputs {
                take(input, &group)
                if isStopping, machine.state.phase == .stopped { break }
            }
            group.cancelAll()
        }
        finish()
    }

    /// Makes `run` return: the present page completes and is stored; an exchange that takes longer than `limit` is
    /// given up, which loses nothing, because it can be repeated.
    package func stop(within limit: Duration = .seconds(5)) {
        guard !isStopping, !isOver else { return }
        isStopping = true
        inbox.yield(.session(.stopRequested))
        stopTimer = dependencies.loop.schedule(at: dependencies.loop.now + limit) { [inbox] in inbox.yield(.stopIsDue) }
    }

    private func finish() {
        isOver = true
        inbox.finish()
        alarm.cancel()
        if let stopTimer { dependencies.loop.cancel(stopTimer) }
        events.finish()
        results.finish()
        answerWaiters(nil)
    }

    // MARK: Requests

    /// Reports something that deserves a run. Returns at once.
    package nonisolated func trigger(_ trigger: SyncTrigger) { inbox.yield(.session(.triggered(trigger))) }

    /// Reports that the cause of a halt was fixed.
    package nonisolated func resume() { inbox.yield(.session(.resumed)) }

    /// Ends the present run after its page. Does nothing without one.
    package nonisolated func cancel() { inbox.yield(.session(.cancelRequested)) }

    /// Asks for a run of everything and waits for its end, whatever that is.
    ///
    /// - Returns: nil if the engine stopped before.
    package func synchronise() async -> SyncResult? {
        guard !isOver else { return nil }
        return await withCheckedContinuation { waiter in
            waiters.append(waiter)
            trigger(.asked)
        }
    }

    /// The session alone, without what is waiting in the store.
    package var status: SyncStatus { machine.status }

    /// The session, the network, and what is waiting in the store right now.
    package func report() async -> SyncReport {
        var status = machine.status
        // If the store cannot be read, the session's own errors say so; the numbers of the last run stand in.
        if let progress = try? await dependencies.repository.progress() {
            status.queue.pending = progress.pending
            status.queue.parked = progress.parked
            status.queue.heldBack = progress.heldBack
            status.lastSuccess = progress.record.lastSuccess
            // Failures from before the restart count too, until a run succeeds.
            if status.lastResult == nil || status.lastSyncError != nil {
                status.failures = max(status.failures, progress.record.failures)
            }
        }
        return SyncReport(status: status, network: debounce.path, nextWake: nextWake, now: dependencies.loop.now)
    }

    // MARK: The loop

    private func take(_ input: Input, _ group: inout DiscardingTaskGroup) {
        switch input {
        case .session(let input): send(input, &group)
        case .stream(let number, let input):
            // A stream that was let go of may still have had something to say.
            if number == streamNumber, stream != nil { send(input, &group) }
        case .network(let path):
            debounce.pathChanged(to: path, at: dependencies.loop.now, random: rng.next())
            dependencies.changes.mark(.host)
            arm()
        case .alarm:
            alarm.rang()
            if debounce.woke(at: dependencies.loop.now) == .synchronise { send(.triggered(.networkGained), &group) }
            send(.woke, &group)
        case .stopIsDue: exchange?.interrupt()
        }
    }

    private func send(_ input: SyncInput, _ group: inout DiscardingTaskGroup) {
        for effect in machine.handle(input, at: dependencies.loop.now, random: rng.next()) {
            switch effect {
            case .perform(let operation): perform(operation, &group)
            case .openEvents: openEvents(&group)
            case .closeEvents:
                stream?.interrupt()
                stream = nil
            case .announce(let result): announce(result, &group)
            case .announceHalt(let halt): logHalt(halt)
            case .log(var entry):
                entry.wall = dependencies.loop.wallNow
                logger.trace("sync event", metadata: ["number": "\(entry.number)", "event": "\(entry.text)"])
                events.yield(entry)
            }
        }
        dependencies.changes.mark(.host)
        arm()
    }

    private func perform(_ operation: SyncOperation, _ group: inout DiscardingTaskGroup) {
        guard operation.isExchange else {
            group.addTask { self.inbox.yield(.session(await self.store(operation))) }
            return
        }
        let interruption = Interruption()
        exchange = interruption
        group.addTask {
            await interruption.limit { self.inbox.yield(.session(await self.exchange(operation))) }
        }
    }

    private func openEvents(_ group: inout DiscardingTaskGroup) {
        streamNumber += 1
        let number = streamNumber
        let interruption = Interruption()
        stream = interruption
        group.addTask { await interruption.limit { await self.listen(number) } }
    }

    private func announce(_ result: SyncResult, _ group: inout DiscardingTaskGroup) {
        report(result)
        group.addTask { [now = dependencies.loop.wallNow, offset = machine.state.serverOffset?.offset] in
            await self.keep(result, at: now, clockOffset: offset)
        }
        results.yield(result)
        // A run that is cancelled or halts takes the requests for it along.
        if case .halted = result.end { return answerWaiters(result) }
        if result.trigger == .asked || result.wasCancelled { answerWaiters(result) }
    }

    private func answerWaiters(_ result: SyncResult?) {
        let answered = waiters
        waiters = []
        for waiter in answered { waiter.resume(returning: result) }
    }

    private func report(_ result: SyncResult) {
        logFullness(machine.state.fullness, before: &fullness)
        let total = result.total
        let metadata: Logger.Metadata = [
            "run": "\(result.run)", "trigger": "\(result.trigger.rawValue)", "pushed": "\(total.pushed)",
            "fetched": "\(total.fetched)", "parked": "\(total.parked)",
            "duration_ms": "\(result.duration.milliseconds)",
        ]
        switch result.end {
        case .complete, .partial, .cancelled:
            logger.debug("sync run ended", metadata: metadata)
        case .failed(let failure):
            // The first of many is a warning; the rest are for people who look closer.
            let level: Logger.Level = machine.state.failures == 1 ? .warning : .debug
            logger.log(level: level, "sync run failed", metadata: metadata.merging(["cause": "\(failure)"]) { $1 })
        case .halted(let halt):
            logHalt(halt, metadata)
        }
        if total.parked > 0 { logger.warning("records parked", metadata: metadata) }
    }

    private var nextWake: MonotonicTime? { [machine.nextWake, debounce.nextWake].compactMap { $0 }.min() }

    private func arm() {
        alarm.set(to: nextWake) { [inbox] in inbox.yield(.alarm) }
    }
}

/// The session's status as `meterctl sync status` shows it.
package struct SyncReport: Hashable, Sendable {
    package var status: SyncStatus
    /// Nil before the first report about the network, or if nobody watches it.
    package var network: NetworkPath?
    /// When something happens by itself; nil while only an event can change anything.
    package var nextWake: MonotonicTime?
    /// The moment to compare the status's times with.
    package var now: MonotonicTime
}
