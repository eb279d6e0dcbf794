/// Numbers of records of one type in a run.
package struct SyncCounts: Hashable, Sendable {
    /// Number of records that the cloud accepted.
    package var pushed = 0
    /// Number of fetched records that changed the local store.
    package var fetched = 0
    /// Number of fetched records without changes.
    package var unchanged = 0
    /// Number of records that the cloud refused or that cannot be stored here. They are set aside with the reason.
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

/// Result of a run, kept and shown to people.
package struct SyncResult: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        /// The run pushed everything and read every requested type to its end.
        case complete
        /// Other hosts' changes arrived while the run was still pushing; another run follows immediately and reads
        /// them.
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
    /// Number of fallback polls. `pollsSkipped` counts those omitted because another host's change had been reported.
    package var polls: UInt64 = 0
    package var pollsSkipped: UInt64 = 0
    package var pages: UInt64 = 0
    package var batches: UInt64 = 0
    package var splits: UInt64 = 0
    package var parked: UInt64 = 0
    package var streamOpenings: UInt64 = 0
    /// Version of the local records. It rises with every merge that changed a record here; screens then redraw the
    /// settings.
    package var refreshVersion: UInt64 = 0

    package init() {}
}
