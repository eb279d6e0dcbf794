/// State of the sync session. Only events change it (`SyncMachine`).
///
/// ```
///            started               a trigger             nothing left, failed, cancelled
/// ┌─────────┐──────▶┌──────┐───────────────────▶┌─────────┐──────────┐
/// │ stopped │       │ idle │◀───────────────────│ running │          │ non-recoverable
/// └─────────┘◀──────└──────┘                    └─────────┘          ▼
///      ▲  stopRequested   ▲        resumed, asked               ┌────────┐
///      └──────────────────┼─────────────────────────────────────│ halted │
///                         └─────────────────────────────────────└────────┘
/// ```
package struct SyncState: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        case stopped
        case idle
        case running(SyncRun)
        case halted(SyncHalt)
    }

    let zone: String
    let host: HostID
    let timing: SyncTiming
    /// Whether this host, on entering another zone, pushes all its records, including those of other hosts
    /// (`ZoneEntry.another`).
    let bringsAll: Bool

    package internal(set) var phase = Phase.stopped
    var schedule = RunSchedule()
    var stream = EventStream()
    var account = AccountStatus.unknown
    /// Nil until the cloud reports this host's role.
    var role: HostRole?
    var clock = CloudClock()
    var outbox = OutboxQueue()
    var (batchPortion, pagePortion) = (Portion(), Portion())
    package internal(set) var fullness: QuotaState?
    var turn = SyncRun.Turn.modify
    var lastCleanUp: MonotonicTime?

    /// Failure of the last run. Cancelled runs do not change it.
    var lastSyncError: SyncFailure?
    var lastResult: SyncResult?
    var lastProgress = SyncProgress()
    var counters = SyncCounters()

    package init(zone: String, host: HostID, timing: SyncTiming = SyncTiming(), bringsAll: Bool = false) {
        self.zone = zone
        self.host = host
        self.timing = timing
        self.bringsAll = bringsAll
    }

    package var run: SyncRun? {
        if case .running(let run) = phase { run } else { nil }
    }

    package var serverOffset: ServerOffset? { clock.offset }

    package var failures: Int { schedule.failures }

    /// Number of consecutive failures if the present run fails now.
    var failuresAfterThis: Int { run?.hasProgressed == true ? 1 : failures.addingClamped(1) }

    mutating func apply(_ event: SyncEvent, _ moment: SyncMoment) -> [SyncEffect] {
        switch event {
        case .input(let input): apply(input, moment)
        case .verdict(let verdict): apply(verdict, at: moment.now)
        }
    }

    /// Time at which to send `woke`; nil while only an event can change the state.
    var nextWake: MonotonicTime? {
        switch phase {
        case .stopped, .halted: nil
        case .idle:
            [schedule.nextRetry, nextRetryOfHeldBack, nextPoll, stream.deadline(timing), outbox.putOffUntil]
                .compactMap { $0 }.min()
        case .running(let run):
            run.operation == nil ? stream.subscribeDeadline(timing) : stream.deadline(timing)
        }
    }

    var nextPoll: MonotonicTime { schedule.nextPoll(timing) }

    /// Returns the zone to enter; nil if the sync progress is valid for the cloud's zone, or if zone or progress is
    /// unknown.
    func entryNeeded(wentBack: Bool = false) -> (zone: SyncZone, entry: ZoneEntry)? {
        guard case .known(let account, let time) = account, let progress = run?.progress else { return nil }
        let zone = account.syncZone
        return ZoneEntry.needed(for: zone, after: progress, at: time, bringsAll: bringsAll, wentBack: wentBack)
            .map { (zone, $0) }
    }
}

// MARK: - Runs

extension SyncState {
    mutating func withRun(_ body: (inout SyncRun) -> Void) {
        guard case .running(var run) = phase else { return }
        body(&run)
        phase = .running(run)
    }

    mutating func beginRunIfDue(at now: MonotonicTime) {
        guard case .idle = phase else { return }
        if let due = nextRetryOfHeldBack, due <= now { schedule.ask(.retry) }
        guard let (trigger, types) = schedule.take(at: now) else { return }
        counters.runs += 1
        phase = .running(
            SyncRun(
                number: counters.runs, trigger: trigger, types: types,
                pageRecordsMax: pagePortion.records(of: timing.pageRecordsMax),
                heldBack: beginHeldBack(because: trigger, at: now), at: now))
    }

    mutating func begin(_ operation: SyncOperation) {
        withRun {
            $0.operation = operation
            if $0.following.first == operation { $0.following.removeFirst() }
            switch operation.mode {
            case .modify, .fetch, .cleanUp: $0.isPastSubscribe = true
            case .stopped, .idle, .waiting, .halted, .readProgress, .account, .createZone, .subscribe: break
            }
        }
    }

    mutating func finishRun(_ end: SyncResult.End, _ moment: SyncMoment) -> [SyncEffect] {
        if end == .complete, run?.isFull == true { schedule.everythingRead(at: moment.now) }
        if end != .cancelled { noteFullness(moment) }
        return endRun(end, at: moment.now).map { [.announce($0)] } ?? []
    }

    mutating func endRun(_ end: SyncResult.End, at now: MonotonicTime) -> SyncResult? {
        guard let run else { return nil }
        let result = run.result(end, at: now)
        lastResult = result
        schedule.leave(run.remaining)
        if let progress = run.progress { lastProgress = progress }
        outbox.runEnded(run.putOff, isComplete: end == .complete, retryAt: now + timing.putOffInterval)
        phase = run.ending == .stop ? .stopped : .idle
        switch end {
        case .complete, .partial:
            if end == .complete { counters.complete += 1 }
            schedule.forgetFailures()
            lastSyncError = nil
        case .cancelled:
            counters.cancelled += 1
            putOffHeldBack(at: now)
        case .failed(let failure):
            counters.failed += 1
            lastSyncError = failure
        case .halted(let halt):
            counters.failed += 1
            lastSyncError = halt.failure
            phase = .halted(halt)
        }
        return result
    }
}
