package import Domain
package import Logging

/// Runs one membership of a cloud, from `run` to `stop`; joining another cloud needs another engine.
///
/// One loop feeds all inputs to a `SyncMachine`; the cloud and the store perform its operations.
package actor SyncEngine {
    package struct Dependencies: Sendable {
        package var link: any CloudLink
        package var repository: any SyncRepository
        package var loop: any SessionLoop
        /// If nil, the return of the network does not end retry pauses.
        package var network: (any NetworkMonitor)?
        /// Called for each merge that changed records, once it is stored and before any further sync.
        package var changed: @Sendable (MergeOutcome) async -> Void
        /// Called with every event of the cloud's stream, in order.
        package var heard: @Sendable (CloudEvent) async -> Void
        package var hostName: @Sendable (HostID) async -> String?
        /// Returns a date known to be right, by which parked records (excluded from sync) age. Nil while the date is
        /// unconfirmed.
        package var confirmedToday: @Sendable () async -> WallTime?
        package var rng: any RandomNumberGenerator & Sendable
        package var changes = ChangeMarks()
        /// Returns the date for the ages of history and tombstones; nil for the loop's system clock.
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
        case stream(Int, SyncInput)
        case network(NetworkPath)
        case alarm
        case stopIsDue
    }

    /// Numbered sync events (`meterctl sync events`).
    package nonisolated let events = Feed<SyncEntry>()
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
    private var exchange: Interruption?
    private var stream: Interruption?
    private var streamNumber = 0
    private var fullness: QuotaState?
    private var waiters: [CheckedContinuation<SyncResult?, Never>] = []

    /// - Parameter bringsAll: whether to push other hosts' records, too, if the zone differs from the last one.
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

    /// Syncs until `stop`. Never cancel its task: this would abort a write in progress.
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

    /// Makes `run` return after the current page of changes is stored. Abandons an exchange with the cloud that exceeds
    /// `limit`; the next sync run repeats it.
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

    package nonisolated func trigger(_ trigger: SyncTrigger) { inbox.yield(.session(.triggered(trigger))) }

    package nonisolated func resume() { inbox.yield(.session(.resumed)) }

    /// Ends the current sync run, if any, once its current page of changes is stored.
    package nonisolated func cancel() { inbox.yield(.session(.cancelRequested)) }

    /// Syncs all record types; nil if the engine stopped before the result.
    package func synchronise() async -> SyncResult? {
        guard !isOver else { return nil }
        return await withCheckedContinuation { waiter in
            waiters.append(waiter)
            trigger(.asked)
        }
    }

    package var status: SyncStatus { machine.status }

    /// Returns the status with the store's present backlog, which `status` lacks.
    package func report() async -> SyncReport {
        var status = machine.status
        // If the store fails, show the numbers of the last sync run.
        if let progress = try? await dependencies.repository.progress() {
            status.queue.pending = progress.pending
            status.queue.parked = progress.parked
            status.queue.heldBack = progress.heldBack
            status.lastSuccess = progress.record.lastSuccess
            // Until a sync run succeeds, include the failures from before the restart.
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
        // A halted run also ends the wait of all callers.
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
            let level: Logger.Level = machine.state.failures == 1 ? .warning : .debug
            logger.log(level: level, "sync run failed", metadata: metadata.merging(["cause": "\(failure)"]) { $1 })
        case .halted(let halt):
            logHalt(halt, metadata)
        }
        if total.parked > 0 { logger.warning("records quarantined: not synced with the cloud", metadata: metadata) }
    }

    private var nextWake: MonotonicTime? { [machine.nextWake, debounce.nextWake].compactMap { $0 }.min() }

    private func arm() {
        alarm.set(to: nextWake) { [inbox] in inbox.yield(.alarm) }
    }
}

package struct SyncReport: Hashable, Sendable {
    package var status: SyncStatus
    /// Nil before the network monitor's first report, or without a monitor.
    package var network: NetworkPath?
    /// Time of the next automatic action; nil if the engine waits for an event.
    package var nextWake: MonotonicTime?
    package var now: MonotonicTime
}
