/// Some of the changes that this host has to push: for each record only its pending properties, in the order of
/// `RecordType.known` and oldest first. They are confirmed by stamp, so a change made while the batch is under way
/// stays pending.
package struct OutboxBatch: Hashable, Sendable {
    package var records: [SyncRecord]

    package init(records: [SyncRecord]) { self.records = records }
}

/// The part of the outbox that is not sent in its normal order.
struct OutboxQueue: Hashable, Sendable {
    /// Halves of a batch that was too large, the first to be sent next. Kept across runs, so that a retry continues
    /// where it stopped.
    private(set) var parts: [OutboxBatch] = []
    /// What the cloud could not accept yet, by its last answer. It waits in the outbox.
    private(set) var putOff: [RecordKey: SyncFailure] = [:]
    /// When that is pushed again, unless a run comes sooner.
    private(set) var putOffUntil: MonotonicTime?

    mutating func split(_ batch: OutboxBatch, into halves: [OutboxBatch]) {
        remove(batch)
        parts.insert(contentsOf: halves, at: 0)
    }

    mutating func remove(_ batch: OutboxBatch) {
        if parts.first == batch { parts.removeFirst() }
    }

    /// The outbox has other contents by now, or other stamps.
    mutating func forgetParts() { parts = [] }

    /// - Parameter isComplete: a run that ended early did not get to everything that was put off before.
    mutating func runEnded(_ putOff: [RecordKey: SyncFailure], isComplete: Bool, retryAt: MonotonicTime) {
        self.putOff = isComplete ? putOff : self.putOff.merging(putOff) { $1 }
        putOffUntil = self.putOff.isEmpty ? nil : retryAt
    }

    /// - Returns: whether what was put off is due.
    mutating func wake(at now: MonotonicTime) -> Bool {
        guard let until = putOffUntil, now >= until else { return false }
        putOffUntil = nil
        return true
    }
}
