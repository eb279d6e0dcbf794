extension SyncState {
    /// Pushes a batch and fetches a page alternately, then cleans up.
    func work(_ run: SyncRun, at now: MonotonicTime) throws(SyncFailure) -> SyncStep {
        guard let progress = run.progress else { return .perform(.readProgress) }
        if let needed = entryNeeded() { return try adopt(needed.zone, needed.entry, run) }
        if let offset = clock.news(beyond: timing.clockStep) { return .perform(.correct(clockOffset: offset)) }
        if turn == .modify || run.remaining.isEmpty, let next = modify(run) { return next }
        if let type = run.remaining.first {
            return .perform(.fetch(type, since: progress.tokens[type], limit: run.pageRecordsMax))
        }
        let isCleanUpDue = lastCleanUp.map { now - $0 >= timing.cleanUpInterval } ?? true
        return isCleanUpDue ? .perform(.cleanUp) : .finish(.complete)
    }

    /// Approximate size of a postponed record (`SyncRun.putOff`) as sent, in bytes.
    private static let putOffBytes = 512

    private func adopt(_ zone: SyncZone, _ entry: ZoneEntry, _ run: SyncRun) throws(SyncFailure) -> SyncStep {
        guard run.repairs.epoch < timing.repairsMax else {
            throw SyncFailure(
                .other, "the local store did not adopt the cloud's zone \(zone.name) of the store \(zone.epoch)")
        }
        return .perform(.adopt(zone, entry))
    }

    private func modify(_ run: SyncRun) -> SyncStep? {
        if let part = outbox.parts.first { return .perform(.push(part)) }
        guard !run.isOutboxEmpty else {
            return run.heldBack == .due ? .perform(.retryHeldBack(recordsMax: timing.fullRecordsMax)) : nil
        }
        // End this run, because only another run fetches the types with unread changes.
        if run.remaining.isEmpty, !schedule.unread.isEmpty { return .finish(.partial) }
        // The store's batch includes the postponed records, which are then removed. So request that many more.
        let count = run.putOff.count
        return .perform(
            .readBatch(
                recordsMax: batchPortion.records(of: timing.batchRecordsMax) + count,
                bytesMax: timing.batchBytesMax + count * Self.putOffBytes,
                // A read-only host pushes only its own `Host` record; other changes wait.
                of: role == .readOnly ? RecordKey(type: .host, name: host.description) : nil))
    }
}
