/// State of the sync session for `meterctl sync status`.
package struct SyncStatus: Hashable, Sendable {
    package var zone: String
    package var mode: SyncMode
    /// This host's role; nil until reported by the cloud.
    package var role: HostRole?
    package var queue: SyncQueue
    package var counters: SyncCounters
    package var lastSyncError: SyncFailure?
    package var failures: Int
    /// Wall-clock time of the last complete run, even by an earlier process; nil without one.
    package var lastSuccess: WallTime?
    package var nextRetry: MonotonicTime?
    /// Time of the next poll, unless a change is reported earlier.
    package var nextPoll: MonotonicTime?
    package var halt: SyncHalt?
    /// Nil if the cloud has room for every change.
    package var fullness: QuotaState?
    package var lastResult: SyncResult?
    package var stream: SyncStream
    /// Time of the last reported change by another host.
    package var lastPush: MonotonicTime?
    package var serverOffset: ServerOffset?
    package var epoch: String?
    package var isAgainWanted: Bool
    package var isCancelling: Bool
}

package struct SyncQueue: Hashable, Sendable {
    /// Number of changes in the outbox, when last read.
    package var pending: Int
    /// Number of records held back for lack of room, when last read.
    package var heldBack: Int
    /// Number of records set aside, when last read.
    package var parked: Int
    /// Number of remaining parts of batches that were too large.
    package var parts: Int
    /// Records that the cloud cannot accept yet. They remain in the outbox.
    package var putOff: [RecordKey: SyncFailure] = [:]
    package var unread: [RecordType]
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
        // Without an operation, the run waits for the event stream.
        case .running(let run): run.operation?.mode ?? .subscribe
        }
    }

    var halt: SyncHalt? {
        if case .halted(let halt) = phase { halt } else { nil }
    }
}
