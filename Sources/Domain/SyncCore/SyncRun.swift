/// One pass through what has to be sent and what has to be read. Lives only in memory, and so dies with its process.
package struct SyncRun: Hashable, Sendable {
    /// How the run will end once the present step is done.
    package enum Ending: Hashable, Sendable { case cancel, stop }

    /// Whose turn it is: pushing and reading alternate, so that neither starves.
    package enum Turn: Hashable, Sendable { case modify, fetch }

    package let number: UInt64
    package let trigger: SyncTrigger
    package let startedAt: MonotonicTime
    /// Whether it reads every type.
    package let isFull: Bool
    /// The operation under way, if any.
    package internal(set) var operation: SyncOperation?
    /// Read at the beginning, and again after something changed it as a whole.
    package internal(set) var progress: SyncProgress?
    /// Types still to be read, in order; the first is being read.
    package internal(set) var remaining: [RecordType]
    package internal(set) var ending: Ending?
    package internal(set) var counts: [RecordType: SyncCounts] = [:]
    /// Records that the cloud cannot accept now, and why. They stay in the outbox, and this run does not push them
    /// again.
    package internal(set) var putOff: [RecordKey: SyncFailure] = [:]

    /// What finishes the present step; comes before anything else, even after a cancellation.
    var following: [SyncOperation] = []
    var isOutboxEmpty = false
    var isPastSubscribe = false
    var pageRecordsMax: Int
    /// Something was stored or pushed, so the next failure is the first in a row.
    var hasProgressed = false
    var repairs = Repairs()
    var heldBack: HeldBack
    /// Why the cloud had no room for something, if that happened.
    var refusal: SyncFailure?

    /// How often the run did what it may do only a few times (`SyncTiming.repairsMax`).
    struct Repairs: Hashable, Sendable {
        var zone = 0
        var epoch = 0
        var refetch: [RecordType: Int] = [:]
        var restamp = 0
    }

    init(
        number: UInt64, trigger: SyncTrigger, types: Set<RecordType>, pageRecordsMax: Int, heldBack: HeldBack = .left,
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
