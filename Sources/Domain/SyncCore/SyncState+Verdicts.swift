extension SyncState {
    mutating func apply(_ verdict: SyncVerdict, at now: MonotonicTime) -> [SyncEffect] {
        switch verdict {
        case .split(let first, let second, _): split(first, second)
        case .refused(let batch, let failure): refuse(batch, because: failure)
        case .pageShortened(let limit):
            goOn()
            withRun { $0.pageRecordsMax = limit }
        case .halted(let halt): return self.halt(halt, at: now)
        case .zoneMissing: askAgainForZone(.zoneMissing)
        case .tokenExpired(let type): goOn(with: [.beginRefetch(type)])
        case .storeReplaced(let epoch):
            account.replaceStore(epoch: epoch)
            goOn()
        case .storeWentBack: goOn(with: entryNeeded(wentBack: true).map { [.adopt($0.zone, $0.entry)] } ?? [])
        case .zoneDoubted: askAgainForZone(.unknown)
        case .stampsRefused: goOn(with: [restamping])
        case .postponed(let failure, let until): return postpone(failure, until: until, at: now)
        case .abandoned: goOn()
        }
        return []
    }

    private mutating func goOn(with next: [SyncOperation] = []) {
        withRun {
            $0.operation = nil
            $0.following = next
        }
    }

    private mutating func split(_ first: OutboxBatch, _ second: OutboxBatch) {
        guard case .push(let batch) = run?.operation else { return }
        counters.splits += 1
        outbox.split(batch, into: [first, second])
        goOn()
    }

    private mutating func refuse(_ batch: OutboxBatch, because failure: SyncFailure) {
        outbox.remove(batch)
        let results = batch.records.map { PushResult(key: $0.key, failure: failure) }
        goOn(with: [.settle(batch, PushOutcome(results: results, serverTime: 0))])
    }

    private mutating func askAgainForZone(_ status: AccountStatus) {
        account = status
        goOn()
        withRun { $0.repairs.zone += 1 }
    }

    private mutating func halt(_ halt: SyncHalt, at now: MonotonicTime) -> [SyncEffect] {
        let announcement: SyncEffect
        if let result = endRun(.halted(halt), at: now) {
            announcement = .announce(result)
        } else {
            guard case .idle = phase else { return [] }
            phase = .halted(halt)
            lastSyncError = halt.failure
            announcement = .announceHalt(halt)
        }
        schedule.clear()
        account = .unknown
        return [announcement] + stream.close()
    }

    private mutating func postpone(
        _ failure: SyncFailure, until time: MonotonicTime, at now: MonotonicTime
    ) -> [SyncEffect] {
        guard let run else { return [] }
        schedule.failed(failuresAfterThis, retryAt: time, isLimit: failure.retryAfter != nil)
        // If pushing failed, start the next run with fetching, and vice versa, so that neither blocks the other.
        switch run.operation?.mode {
        case .modify: turn = .fetch
        case .fetch: turn = .modify
        default: break
        }
        if failure.isNoAnswer { shorten(run.operation) }
        // The next run checks again whether this is the same cloud.
        account = .unknown
        return endRun(.failed(failure), at: now).map { [.announce($0)] } ?? []
    }

    private mutating func shorten(_ operation: SyncOperation?) {
        switch operation {
        case .push(let batch):
            batchPortion.unanswered(batch.records.count)
            // Drop the halves, so that the session rereads their records from the outbox in smaller batches.
            if batch.records.count > 1 { outbox.forgetParts() }
        case .fetch(_, _, let limit): pagePortion.unanswered(limit)
        default: break
        }
    }
}
