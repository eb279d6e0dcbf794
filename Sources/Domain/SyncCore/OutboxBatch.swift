/// Pending properties of some records: by type, in the order of `RecordType.known`, then oldest first. The store
/// removes a pushed property only if its stamp is unchanged, so a change made in the meantime remains pending.
package struct OutboxBatch: Hashable, Sendable {
    package var records: [SyncRecord]

    package init(records: [SyncRecord]) { self.records = records }
}

struct OutboxQueue: Hashable, Sendable {
    /// Halves of a batch that was too large, in sending order. Kept across runs.
    private(set) var parts: [OutboxBatch] = []
    /// Records that the cloud cannot accept yet. They remain in the outbox.
    private(set) var putOff: [RecordKey: SyncFailure] = [:]
    /// Time to push `putOff` again, unless a run starts earlier.
    private(set) var putOffUntil: MonotonicTime?

    mutating func split(_ batch: OutboxBatch, into halves: [OutboxBatch]) {
        remove(batch)
        parts.insert(contentsOf: halves, at: 0)
    }

    mutating func remove(_ batch: OutboxBatch) {
        if parts.first == batch { parts.removeFirst() }
    }

    mutating func forgetParts() { parts = [] }

    /// - Parameter isComplete: false if the run ended before it tried all records in the old `putOff`.
    mutating func runEnded(_ putOff: [RecordKey: SyncFailure], isComplete: Bool, retryAt: MonotonicTime) {
        self.putOff = isComplete ? putOff : self.putOff.merging(putOff) { $1 }
        putOffUntil = self.putOff.isEmpty ? nil : retryAt
    }

    /// - Returns: whether to push the records in `putOff` now.
    mutating func wake(at now: MonotonicTime) -> Bool {
        guard let until = putOffUntil, now >= until else { return false }
        putOffUntil = nil
        return true
    }
}
