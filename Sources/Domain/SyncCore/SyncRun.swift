/// One pass through the outbox and the unread record types. Not persisted.
package struct SyncRun: Hashable, Sendable {
    /// Reason to end the run after the present step.
    package enum Ending: Hashable, Sendable { case cancel, stop }

    /// Next direction. Pushing and fetching alternate, so that neither starves.
    package enum Turn: Hashable, Sendable { case modify, fetch }

    package let number: UInt64
    package let trigger: SyncTrigger
    package let startedAt: MonotonicTime
    package let isFull: Bool
    package internal(set) var operation: SyncOperation?
    /// Progress as last loaded from the store. Nil before the first load, and after an operation that resets it, such
    /// as `adopt`.
    package internal(set) var progress: SyncProgress?
    /// Types still to fetch, in order; the first is in progress.
    package internal(set) var remaining: [RecordType]
    package internal(set) var ending: Ending?
    package internal(set) var counts: [RecordType: SyncCounts] = [:]
    /// Records that the cloud cannot accept now. They remain in the outbox; this run does not push them again.
    package internal(set) var putOff: [RecordKey: SyncFailure] = [:]

    /// Operations that finish the present step. They run first; after a cancellation, only those with `completesStep`.
    var following: [SyncOperation] = []
    var isOutboxEmpty = false
    var isPastSubscribe = false
    var pageRecordsMax: Int
    /// Whether the run stored or pushed something. Then the next failure counts as the first, with a short retry pause.
    var hasProgressed = false
    var repairs = Repairs()
    var heldBack: DeferredChanges
    var refusal: SyncFailure?

    /// Number of repairs of each kind in this run, limited by `SyncTiming.repairsMax`.
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
