package import MeterModel
package import SettingsCore

/// Everything the session knows, as a value. Changed by events alone (`SyncMachine`).
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

    /// When a run that failed is tried again.
    package struct Retry: Hashable, Sendable {
        package var at: MonotonicTime
        /// The cloud named the time; only a person may be faster.
        package var isLimit: Bool
    }

    package let zone: String
    package let host: HostID
    package let timing: SyncTiming
    /// Where this is another zone than the last: it is told all that this host has, others' records too.
    package let bringsAll: Bool
    package internal(set) var phase = Phase.stopped
    package internal(set) var stream = SyncStream.closed
    /// Who the cloud thinks we are; nil means to be asked before anything else.
    package internal(set) var account: CloudAccount?
    package internal(set) var serverOffset: ServerOffset?
    package internal(set) var retry: Retry?
    /// Of the last run that failed; nil after one that did not. A cancelled run leaves it as it is.
    package internal(set) var lastSyncError: SyncFailure?
    package internal(set) var lastResult: SyncResult?
    package internal(set) var counters = SyncCounters()
    /// Runs that failed in a row.
    package internal(set) var failures = 0
    /// Why another run is wanted; nil means none is. During a run this is its "again".
    package internal(set) var again: SyncTrigger?
    /// Types with changes that nobody has read, but for what the present run still will.
    package internal(set) var unread: Set<RecordType> = []
    /// Halves of a batch that was too large, the first to be sent next. Kept across runs, so that a retry goes on where
    /// it was.
    package internal(set) var parts: [OutboxBatch] = []
    /// As it was read last.
    package internal(set) var lastProgress = SyncProgress()
    /// What the cloud could not take yet, as the last run that told it was answered. It waits in the outbox.
    package internal(set) var putOff: [RecordKey: SyncFailure] = [:]
    /// When that is told again, unless a run comes before.
    var putOffUntil: MonotonicTime?
    /// When a remote change was last told by the stream.
    package internal(set) var lastPush: MonotonicTime?
    /// The cloud has no room for something that this host has to tell; nil means it has.
    package internal(set) var fullness: Fullness?

    var isZoneMissing = false
    /// This host's calendar when the cloud last said who it is.
    var accountAt: WallTime?
    /// What the store was told of the clock; nil means nothing yet.
    var toldOffset: Duration?
    var turn = SyncRun.Turn.modify
    var lastCheck = MonotonicTime.origin
    var hasRemoteChange = false
    var lastCleanUp: MonotonicTime?
    var streamFailures = 0

    package init(zone: String, host: HostID, timing: SyncTiming = SyncTiming(), bringsAll: Bool = false) {
        self.zone = zone
        self.host = host
        self.timing = timing
        self.bringsAll = bringsAll
    }

    package var run: SyncRun? {
        if case .running(let run) = phase { run } else { nil }
    }

    /// How to begin with the zone that the cloud says this is; nil where the progress goes on, or is not known yet.
    func entryNeeded(wentBack: Bool = false) -> (zone: SyncZone, entry: ZoneEntry)? {
        guard let zone = account?.syncZone, let progress = run?.progress else { return nil }
        return ZoneEntry.needed(
            for: zone, after: progress, at: accountAt, bringsAll: bringsAll, wentBack: wentBack
        ).map { (zone, $0) }
    }

    /// Changes the run in place; nothing without one.
    mutating func withRun(_ body: (inout SyncRun) -> Void) {
        guard case .running(var run) = phase else { return }
        body(&run)
        phase = .running(run)
    }

    /// Asks for a run, now or after the present one. The first reason stays, but for a person's.
    mutating func ask(_ trigger: SyncTrigger) {
        if again == nil || trigger == .asked { again = trigger }
    }

    /// Begins a run where one is wanted and its time has come.
    mutating func beginRunIfDue(at now: MonotonicTime) {
        if case .idle = phase, let due = nextRetryOfHeldBack, due <= now { ask(.retry) }
        guard case .idle = phase, let trigger = again, retry.map({ $0.at <= now }) ?? true else { return }
        again = nil
        retry = nil
        counters.runs += 1
        phase = .running(
            SyncRun(
                number: counters.runs, trigger: trigger, types: unread, pageRecordsMax: timing.pageRecordsMax,
                heldBack: beginHeldBack(because: trigger, at: now), at: now))
        unread = []
    }

    /// Ends the run. What it did not read is still to be read.
    mutating func endRun(_ end: SyncResult.End, at now: MonotonicTime) -> SyncResult? {
        guard let run else { return nil }
        let result = run.result(end, at: now)
        lastResult = result
        unread.formUnion(run.remaining)
        if let progress = run.progress { lastProgress = progress }
        // One that ended early did not come to all of them.
        putOff = end == .complete ? run.putOff : putOff.merging(run.putOff) { $1 }
        putOffUntil = putOff.isEmpty ? nil : now + timing.putOffInterval
        phase = run.ending == .stop ? .stopped : .idle
        switch end {
        case .complete, .partial:
            if end == .complete { counters.complete += 1 }
            failures = 0
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

    /// When `woke` has something to do next; nil while only an event can change anything.
    package var nextWake: MonotonicTime? {
        switch phase {
        case .stopped, .halted: nil
        case .idle:
            [again == nil ? nil : retry?.at, nextRetryOfHeldBack, nextPoll, streamDeadline, putOffUntil]
                .compactMap { $0 }.min()
        case .running(let run): run.operation == nil ? subscribeDeadline : streamDeadline
        }
    }

    package var nextPoll: MonotonicTime { lastCheck + timing.pollInterval }

    var subscribeDeadline: MonotonicTime? {
        if case .opening(let since) = stream { since + timing.subscribeTimeout } else { nil }
    }

    /// When the stream is opened again, or given up for dead.
    var streamDeadline: MonotonicTime? {
        switch stream {
        case .closed: nil
        case .opening(let since): since + timing.streamSilence
        case .open(_, let lastHeard): lastHeard + timing.streamSilence
        case .waiting(let retryAt): retryAt
        }
    }
}

extension SyncState {
    /// Marks an operation as under way.
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

    /// A complete run counts as a check for remote changes.
    mutating func everythingRead(at now: MonotonicTime) {
        lastCheck = now
        hasRemoteChange = false
    }
}
