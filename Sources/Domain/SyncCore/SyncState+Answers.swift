/// Applies results of operations; ignores a result if its operation is not in progress.
extension SyncState {
    mutating func applyAnswer(_ answer: SyncInput, at now: MonotonicTime) {
        switch answer {
        case .progressRead(let progress): progressRead(progress)
        case .accountChecked(let account, let sample): accountChecked(account, sample, at: now)
        case .zoneCreated: zoneCreated()
        case .adopted: adopted()
        case .corrected: corrected()
        case .batchRead(let batch): batchRead(batch)
        case .pushed(let outcome, let sample): pushed(outcome, sample, at: now)
        case .settled(let merge): settled(merge)
        case .heldBackRetried(let count): heldBackRetried(count)
        case .restamped: restamped()
        case .refetchBegun: refetchBegun()
        case .pageFetched(let page): pageFetched(page)
        case .applied(let merge): applied(merge)
        case .cleanedUp: cleanedUp(at: now)
        case .cloudFailed, .storeFailed, .started, .stopRequested, .cancelRequested, .resumed, .triggered, .woke,
            .streamOpened, .streamHeard, .streamBroke, .remoteChanged:
            break
        }
    }

    private mutating func finish(_ isAnswered: (SyncOperation) -> Bool) -> SyncOperation? {
        guard let operation = run?.operation, isAnswered(operation) else { return nil }
        withRun { $0.operation = nil }
        return operation
    }

    private mutating func progressRead(_ progress: SyncProgress) {
        guard finish({ $0 == .readProgress }) != nil else { return }
        lastProgress = progress
        withRun { $0.progress = progress }
        lookAtHeldBack(progress)
    }

    private mutating func accountChecked(_ account: CloudAccount, _ sample: ClockSample, at now: MonotonicTime) {
        guard finish({ $0 == .checkAccount }) != nil else { return }
        self.account = .known(account, at: sample.localTime)
        role = account.role
        clock.measure(sample, at: now)
    }

    private mutating func zoneCreated() {
        guard finish({ if case .createZone = $0 { true } else { false } }) != nil else { return }
        account = .unknown
    }

    private mutating func adopted() {
        guard finish({ if case .adopt = $0 { true } else { false } }) != nil else { return }
        outbox.forgetParts()
        withRun {
            $0.repairs.epoch += 1
            $0.progress = nil
            $0.remaining = RecordType.known
            $0.isOutboxEmpty = false
        }
    }

    private mutating func corrected() {
        guard case .correct(let offset) = finish({ if case .correct = $0 { true } else { false } }) else { return }
        clock.storeWasTold(offset)
        // Drop the halves of a split batch: they may contain outdated stamps.
        outbox.forgetParts()
    }

    private mutating func batchRead(_ batch: OutboxBatch?) {
        guard finish({ if case .readBatch = $0 { true } else { false } }) != nil else { return }
        let putOff = run?.putOff ?? [:]
        let records = batch?.records.filter { putOff[$0.key] == nil } ?? []
        if !records.isEmpty {
            let few = OutboxBatch(records: Array(records.prefix(batchPortion.records(of: timing.batchRecordsMax))))
            withRun { $0.following = [.push(few)] }
        } else {
            turn = .fetch
            withRun {
                $0.isOutboxEmpty = true
                $0.heldBack.batchesEnded()
            }
        }
    }

    private mutating func pushed(_ outcome: PushOutcome, _ sample: ClockSample, at now: MonotonicTime) {
        guard case .push(let batch) = finish({ if case .push = $0 { true } else { false } }) else { return }
        counters.batches += 1
        batchPortion.answered(batch.records.count, of: timing.batchRecordsMax)
        clock.measure(sample, at: now)
        let decided = outcome.results.filter { $0.isDecided(in: batch) }
        let tooLarge = Set(outcome.results.filter { $0.isTooLarge(in: batch) }.map(\.key))
        noteRefusals(outcome)
        outbox.split(
            batch, into: batch.records.filter { tooLarge.contains($0.key) }.map { OutboxBatch(records: [$0]) })
        let putOff = outcome.results.filter(\.isPutOff)
        let isSkewed = outcome.results.contains { $0.failure?.kind == .clockSkew }
        var following: [SyncOperation] = []
        if !decided.isEmpty {
            following.append(.settle(batch, PushOutcome(results: decided, serverTime: outcome.serverTime)))
        }
        if isSkewed { following.append(restamping) }
        withRun { run in
            run.following = following
            for result in putOff { run.putOff[result.key] = result.failure }
        }
    }

    private mutating func settled(_ merge: MergeOutcome) {
        guard case .settle(_, let outcome) = finish({ if case .settle = $0 { true } else { false } }) else {
            return
        }
        if !merge.changed.isEmpty { counters.refreshVersion += 1 }
        turn = .fetch
        let refused = outcome.results.count { $0.isRefusedForGood }
        // The store's count may include the refused records, so use the larger count, not the sum.
        counters.parked += UInt64(max(refused, merge.parked))
        withRun { run in
            run.hasProgressed = true
            for result in outcome.results {
                run.count(
                    result.key.type,
                    SyncCounts(pushed: result.failure == nil ? 1 : 0, parked: result.isRefusedForGood ? 1 : 0))
            }
            for key in merge.changed { run.count(key.type, SyncCounts(fetched: 1)) }
        }
    }

    mutating func finishRetry() -> Bool {
        finish { if case .retryHeldBack = $0 { true } else { false } } != nil
    }

    private mutating func restamped() {
        guard finish({ if case .restamp = $0 { true } else { false } }) != nil else { return }
        outbox.forgetParts()
        withRun {
            $0.repairs.restamp += 1
            $0.isOutboxEmpty = false
        }
    }

    private mutating func refetchBegun() {
        guard case .beginRefetch(let type) = finish({ if case .beginRefetch = $0 { true } else { false } }) else {
            return
        }
        withRun {
            $0.repairs.refetch[type, default: 0] += 1
            $0.progress?.tokens[type] = nil
            $0.progress?.refetching.insert(type)
        }
    }

    private mutating func pageFetched(_ page: ChangesPage) {
        guard case .fetch(_, _, let limit) = finish({ if case .fetch(page.type, _, _) = $0 { true } else { false } })
        else { return }
        counters.pages += 1
        pagePortion.answered(limit, of: timing.pageRecordsMax)
        withRun { $0.following = [.apply(page)] }
    }

    private mutating func applied(_ merge: MergeOutcome) {
        guard case .apply(let page) = finish({ if case .apply = $0 { true } else { false } }) else { return }
        if !merge.changed.isEmpty { counters.refreshVersion += 1 }
        counters.parked += UInt64(max(0, merge.parked))
        turn = .modify
        withRun { run in
            run.hasProgressed = true
            if merge.toldAgain > 0 { run.isOutboxEmpty = false }
            run.progress?.tokens[page.type] = page.token
            if !page.moreComing {
                run.progress?.refetching.remove(page.type)
                run.remaining.removeAll { $0 == page.type }
            }
            run.count(
                page.type,
                SyncCounts(fetched: merge.changed.count, unchanged: merge.unchanged, parked: merge.parked))
        }
    }

    private mutating func cleanedUp(at now: MonotonicTime) {
        guard finish({ $0 == .cleanUp }) != nil else { return }
        lastCleanUp = now
    }

    var restamping: SyncOperation { .restamp(clockOffset: serverOffset?.offset ?? .zero) }
}

extension PushResult {
    /// Whether the record was accepted, permanently refused, or held back. Other records remain in the outbox.
    func isDecided(in batch: OutboxBatch) -> Bool {
        switch failure?.kind {
        case nil, .badRequest, .permissionDenied, .quotaExceeded: true
        case .limitExceeded: batch.records.count == 1
        case .readOnly, .clockSkew, .leaseHeld, .rateLimited, .serviceUnavailable, .network, .other, .zoneNotFound,
            .notAuthenticated,
            .changeTokenExpired, .timelineLost, .anotherZone, .wrongCertificate:
            false
        }
    }

    /// Valid only if `isDecided`.
    var isRefusedForGood: Bool { failure.map { $0.kind != .quotaExceeded } ?? false }

    /// Whether a later run pushes the record again.
    var isPutOff: Bool { failure?.kind == .leaseHeld || failure?.kind == .readOnly }

    /// Whether the record was too large together with the rest of the batch. Only pushing it alone shows whether it is
    /// too large by itself.
    func isTooLarge(in batch: OutboxBatch) -> Bool {
        failure?.kind == .limitExceeded && batch.records.count > 1
    }
}
