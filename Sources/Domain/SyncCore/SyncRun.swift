/// One pass through the outbox and the unread types. Not persisted.
package struct SyncRun: Hashable, Sendable {
    /// Reason to end the run after the present step.
    package enum Ending: Hashable, Sendable { case cancel, stop }

    /// Next direction. Pushing and reading alternate, so that neither starves.
    package enum Turn: Hashable, Sendable { case modify, fetch }

    package let number: UInt64
    package let trigger: SyncTrigger
    package let startedAt: MonotonicTime
    package let isFull: Bool
    package internal(set) var operation: SyncOperation?
    /// Progress as read at the start, and read again after an operation that resets it, such as `adopt`; nil until
    /// then.
    package internal(set) var progress: SyncProgress?
    /// Types still to read, in order; the first is being read.
    package internal(set) var remaining: [RecordType]
    package internal(set) var ending: Ending?
    package internal(set) var counts: [RecordType: SyncCounts] = [:]
    /// Records that the cloud cannot accept now, with the reason. They remain in the outbox; this run does not push
    /// them again.
    package internal(set) var putOff: [RecordKey: SyncFailure] = [:]

    /// Operations that finish the present step. They are performed first, even after a cancellation.
    var following: [SyncOperation] = []
    var isOutboxEmpty = false
    var isPastSubscribe = false
    var pageRecordsMax: Int
    /// Whether the run stored or pushed something. If so, the next failure counts as the first of a new series, and its
    /// retry pause is short.
    var hasProgressed = false
    var repairs = Repairs()
    var heldBack: DeferredChanges
    var refusal: SyncFailure?

    /// Counts of repairs, each limited by `SyncTiming.repairsMax`.
    struct Repairs: Hashable, Sendable {
        var zone = 0
        var epoch = 0
        var refetch: [RecordType: Int] = [:]
        var restamp = 0
    }

    init(
        number: UInt64, trigger: SyncTrigger, types: Set<RecordType>, pageRecordsMax: Int,
        heldBack: DeferredChanges = .left,
        at now: MonotonicTime
    ) {
        self.heldBack = heldBack
        self.number = number
        self.trigger = trigger
        self.pageRecordsMax = pageRecordsMax
        remaining = RecordType.known.filter(types.contains)
        isFull = types.isSuperset(of: RecordType.known)
        startedAt = now
    }

    mutating func count(_ type: RecordType, _ counts: SyncCounts) {
        guard counts != SyncCounts() else { return }
        self.counts[type, default: SyncCounts()] += counts
    }

    func result(_ end: SyncResult.End, at now: MonotonicTime) -> SyncResult {
        SyncResult(
            run: number, trigger: trigger, startedAt: startedAt, duration: now - startedAt, counts: counts, end: end)
    }
}
