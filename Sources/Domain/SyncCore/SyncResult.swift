package struct SyncCounts: Hashable, Sendable {
    package var pushed = 0
    /// Number of fetched records that changed the local store.
    package var fetched = 0
    /// Number of fetched records that changed nothing.
    package var unchanged = 0
    /// Number of records set aside: the cloud refused them, or they cannot be stored here.
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

package struct SyncResult: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        /// The run pushed everything and fetched every requested type to its end.
        case complete
        /// Other hosts' changes arrived while the run was still pushing. Another run follows immediately.
        case partial
        case cancelled
        case failed(SyncFailure)
        case halted(SyncHalt)
    }

    /// Number of the run, counted from 1.
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

    package var total: SyncCounts { counts.values.reduce(into: SyncCounts()) { $0 += $1 } }

    package var skipped: Int { total.unchanged + total.parked }
}

package struct SyncCounters: Hashable, Sendable {
    package var runs: UInt64 = 0
    package var complete: UInt64 = 0
    package var failed: UInt64 = 0
    package var cancelled: UInt64 = 0
    /// Number of fallback polls. `pollsSkipped` counts those skipped because another host's change had been reported.
    package var polls: UInt64 = 0
    package var pollsSkipped: UInt64 = 0
    package var pages: UInt64 = 0
    package var batches: UInt64 = 0
    package var splits: UInt64 = 0
    package var parked: UInt64 = 0
    package var streamOpenings: UInt64 = 0
    /// Rises with every merge that changed a record; user interfaces then redraw the settings.
    package var refreshVersion: UInt64 = 0

    package init() {}
}
