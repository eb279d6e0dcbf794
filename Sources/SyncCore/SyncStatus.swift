package import MeterModel
package import SettingsCore

/// The session as a person asks for it (`meterctl sync status`).
package struct SyncStatus: Hashable, Sendable {
    package var zone: String
    package var mode: SyncMode
    /// What waits to be sent and what is still to be read.
    package var queue: SyncQueue
    package var counters: SyncCounters
    /// Of the last run that failed, nil after one that did not.
    package var lastSyncError: SyncFailure?
    /// Runs that failed in a row.
    package var failures: Int
    /// When a run was last complete, before a restart too, by this host's calendar; nil for never, or not known here.
    package var lastSuccess: WallTime?
    /// When a run that failed is tried again.
    package var nextRetry: MonotonicTime?
    /// When changes are asked for, unless one is told until then.
    package var nextPoll: MonotonicTime?
    package var halt: SyncHalt?
    /// nil means the cloud has room for all that was told.
    package var fullness: Fullness?
    /// nil before the first.
    package var lastResult: SyncResult?
    package var stream: SyncStream
    /// When another host's change was last told by the stream.
    package var lastPush: MonotonicTime?
    package var serverOffset: ServerOffset?
    /// Of the cloud's store.
    package var epoch: String?
    /// Another run follows the present one.
    package var isAgainWanted: Bool
    package var isCancelling: Bool
}

/// What lies before the session.
package struct SyncQueue: Hashable, Sendable {
    /// Changes in the outbox, when it was last looked at.
    package var pending: Int
    /// Records of which something waits until the cloud has room, when it was last looked at.
    package var heldBack: Int
    /// Records that are not synced, when it was last looked at.
    package var parked: Int
    /// Halves of a batch that was too large.
    package var parts: Int
    /// Records of those that the cloud could not take yet, and why.
    package var putOff: [RecordKey: SyncFailure] = [:]
    /// Types to be read, in their order.
    package var unread: [RecordType]
    /// Types that are read anew from the beginning.
    package var refetching: Set<RecordType>
}

extension SyncMachine {
    package var status: SyncStatus {
        let progress = state.run?.progress ?? state.lastProgress
        let unread = state.schedule.unread.union(state.run?.remaining ?? [])
        return SyncStatus(
            zone: state.zone, mode: state.mode,
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
