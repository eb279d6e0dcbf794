/// The session's status as a person sees it (`meterctl sync status`).
package struct SyncStatus: Hashable, Sendable {
    package var zone: String
    package var mode: SyncMode
    /// What this host may do, as the cloud last said; nil before it did. One that may only look pushes its own `Host`
    /// record, and its other changes wait.
    package var role: HostRole?
    /// What waits to be sent and what is still to be read.
    package var queue: SyncQueue
    package var counters: SyncCounters
    /// Failure of the last run; nil if it did not fail.
    package var lastSyncError: SyncFailure?
    /// Number of runs that have failed in a row.
    package var failures: Int
    /// When a run was last complete, by this host's calendar, also before a restart; nil if never, or if not known
    /// here.
    package var lastSuccess: WallTime?
    /// When a run that failed is tried again.
    package var nextRetry: MonotonicTime?
    /// When changes are next asked for, unless one is reported before.
    package var nextPoll: MonotonicTime?
    package var halt: SyncHalt?
    /// Nil if the cloud has room for everything that was pushed.
    package var fullness: Fullness?
    /// Result of the last run, if there was one.
    package var lastResult: SyncResult?
    package var stream: SyncStream
    /// When the stream last reported another host's change.
    package var lastPush: MonotonicTime?
    package var serverOffset: ServerOffset?
    /// Epoch of the cloud's store.
    package var epoch: String?
    /// Whether another run follows the present one.
    package var isAgainWanted: Bool
    package var isCancelling: Bool
}

/// What the session still has to do.
package struct SyncQueue: Hashable, Sendable {
    /// Changes in the outbox when it was last read.
    package var pending: Int
    /// Records with something that waits until the cloud has room, when last read.
    package var heldBack: Int
    /// Records that are not synced, when last read.
    package var parked: Int
    /// Number of parts left of batches that were too large.
    package var parts: Int
    /// Records in the outbox that the cloud could not accept yet, and why.
    package var putOff: [RecordKey: SyncFailure] = [:]
    /// Types to be read, in order.
    package var unread: [RecordType]
    /// Types that are being read anew from the beginning.
    package var refetching: Set<RecordType>
}

extension SyncMachine {
    package var status: SyncStatus {
        let progress = state.run?.progress ?? state.lastProgress
        let unread = state.schedule.unread.union(state.run?.remaining ?? [])
        return SyncStatus(
            zone: state.zone, mode: state.mode, role: state.role,
            queue: SyncQueue(
                pending: progress.pending, heldBack: progress.heldBack, parked: progress.parked,
                parts: state.outbox.parts.count,
                putOff: state.run.map { state.outbox.putOff.merging($0.putOff) { $1 } } ?? state.outbox.putOff,
                unread: RecordType.known.filter(unread.contains), refetching: progress.refetching),
            counters: state.counters, lastSyncError: state.lastSyncError, failures: state.failures,
            nextRetry: state.schedule.retry?.at, nextPoll: state.phase == .idle ? state.nextPoll : nil,
            halt: state.halt,
            fullness: state.fullness, lastResult: state.lastResult, stream: state.stream.state,
            lastPush: state.stream.lastPush,
            serverOffset: state.serverOffset, epoch: progress.epoch, isAgainWanted: state.schedule.again != nil,
            isCancelling: state.run?.ending != nil)
    }
}

extension SyncState {
    var mode: SyncMode {
        switch phase {
        case .stopped: .stopped
        case .idle: schedule.retry == nil ? .idle : .waiting
        case .halted: .halted
        // A run with nothing under way waits for the stream.
        case .running(let run): run.operation?.mode ?? .subscribe
        }
    }

    var halt: SyncHalt? {
        if case .halted(let halt) = phase { halt } else { nil }
    }
}
