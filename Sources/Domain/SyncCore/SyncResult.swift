/// What a run did with the records of one type.
package struct SyncCounts: Hashable, Sendable {
    /// Pushed, and accepted by the cloud.
    package var pushed = 0
    /// Came from the cloud and changed something here.
    package var fetched = 0
    /// Came from the cloud with nothing new.
    package var unchanged = 0
    /// Cannot be kept here, or was refused by the cloud; set aside with the reason.
    package var parked = 0

    package init(pushed: Int = 0, fetched: Int = 0, unchanged: Int = 0, parked: Int = 0) {
        self.pushed = pushed
        self.fetched = fetched
        self.unchanged = unchanged
        self.parked = parked
    }

    package static func += (left: inout Self, right: Self) {
        left.pushed += right.pushed
        left.fetched += right.fetched
        left.unchanged += right.unchanged
        left.parked += right.parked
    }
}

/// How a run ended; kept, and shown to people.
package struct SyncResult: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        /// Everything was pushed, and every type that was asked for was read to its end.
        case complete
        /// The outbox filled faster than it was pushed; another run follows at once.
        case partial
        case cancelled
        case failed(SyncFailure)
        case halted(SyncHalt)
    }

    /// The run's number, from 1 on.
    package var run: UInt64
    package var trigger: SyncTrigger
    package var startedAt: MonotonicTime
    package var duration: Duration
    package var counts: [RecordType: SyncCounts]
    package var end: End

    package init(
        run: UInt64, trigger: SyncTrigger, startedAt: MonotonicTime, duration: Duration,
        counts: [RecordType: SyncCounts], end: End
    ) {
        self.run = run
        self.trigger = trigger
        self.startedAt = startedAt
        self.duration = duration
        self.counts = counts
        self.end = end
    }

    package var wasCancelled: Bool { end == .cancelled }

    /// All types together.
    package var total: SyncCounts { counts.values.reduce(into: SyncCounts()) { $0 += $1 } }

    /// Records that were skipped: no newer than those here, or impossible to keep.
    package var skipped: Int { total.unchanged + total.parked }
}

/// What the session has done since it was made.
package struct SyncCounters: Hashable, Sendable {
    package var runs: UInt64 = 0
    package var complete: UInt64 = 0
    package var failed: UInt64 = 0
    package var cancelled: UInt64 = 0
    /// Fallback polls, and those that a remote change made needless.
    package var polls: UInt64 = 0
    package var pollsSkipped: UInt64 = 0
    package var pages: UInt64 = 0
    package var batches: UInt64 = 0
    package var splits: UInt64 = 0
    package var parked: UInt64 = 0
    package var streamOpenings: UInt64 = 0
    /// Rises with every merge that changed something here; screens redraw the settings on it.
    package var refreshVersion: UInt64 = 0

    package init() {}
}
