/// Maps failures to verdicts by the table in Docs/Sync.md#errors. Also detects contradictory answers, which would keep
/// a sync run busy forever.
extension SyncState {
    func errors(_ input: SyncInput) throws(SyncFailure) -> SyncVerdict? {
        switch input {
        case .cloudFailed(let failure): return try verdict(on: failure)
        case .storeFailed(let message): return try verdict(onStore: message)
        case .streamBroke(let failure): return verdict(onStream: failure)
        case .pushed(let outcome, _):
            if let doubt = doubt(outcome) { throw doubt }
            return nil
        case .pageFetched(let page): return try verdict(on: page)
        default: return nil
        }
    }

    private func verdict(on failure: SyncFailure) throws(SyncFailure) -> SyncVerdict? {
        guard let run, let operation = run.operation else { return nil }
        guard run.ending == nil else { return .abandoned }
        if let halt = SyncHalt(failure) { return .halted(halt) }
        switch (failure.kind, operation) {
        case (.zoneNotFound, _):
            return try repair(.zoneMissing(failure), done: run.repairs.zone, because: failure)
        case (.anotherZone, .fetch(_, .some, _)):
            return try doubtZone(run, because: failure)
        case (.timelineLost(let epoch, let zone), .fetch(_, .some, _)):
            guard isOurs(zone) else { return try doubtZone(run, because: failure) }
            guard !isAnother(epoch, run) else { return try replaceStore(with: epoch, run, because: failure) }
            return try repair(.storeWentBack, done: run.repairs.epoch, because: failure)
        case (.changeTokenExpired(let epoch, let zone), .fetch(let type, .some, _)):
            guard isOurs(zone) else { return try doubtZone(run, because: failure) }
            guard !isAnother(epoch, run) else { return try replaceStore(with: epoch, run, because: failure) }
            return try repair(.tokenExpired(type), done: run.repairs.refetch[type, default: 0], because: failure)
        case (.limitExceeded, .fetch(_, _, let limit)) where limit > 1:
            return .pageShortened(limit: limit / 2)
        case (.clockSkew, .push):
            return try repair(.stampsRefused, done: run.repairs.restamp, because: failure)
        default:
            throw failure
        }
    }

    private func verdict(onStore message: String) throws(SyncFailure) -> SyncVerdict? {
        guard let run, run.operation != nil else { return nil }
        guard run.ending == nil else { return .abandoned }
        throw SyncFailure(.other, "the local store failed: \(message)")
    }

    /// Ignores stream failures during a sync run, whose own cloud call fails in the same way.
    private func verdict(onStream failure: SyncFailure) -> SyncVerdict? {
        guard case .idle = phase else { return nil }
        return SyncHalt(failure).map { .halted($0) }
    }

    private func verdict(on page: ChangesPage) throws(SyncFailure) -> SyncVerdict? {
        guard let run, run.ending == nil, case .fetch(let type, let since, _) = run.operation else { return nil }
        guard isOurs(page.zoneID) else {
            return try doubtZone(
                run, because: SyncFailure(.other, "the cloud sent a page of another zone than the one it says it is"))
        }
        if page.epoch != run.progress?.epoch {
            let failure = SyncFailure(.other, "the cloud's store keeps changing; now it is \(page.epoch)")
            return try replaceStore(with: page.epoch, run, because: failure)
        }
        if page.type != type {
            throw SyncFailure(.other, "the cloud sent \(page.type.rawValue), asked for \(type.rawValue)")
        }
        if page.moreComing, page.token == since {
            throw SyncFailure(.other, "the cloud's next page of \(type.rawValue) is the same again")
        }
        return nil
    }

    /// Returns an error if the answer to a batch makes no progress; otherwise nil.
    private func doubt(_ outcome: PushOutcome) -> SyncFailure? {
        guard let run, run.ending == nil, case .push(let batch) = run.operation,
            !outcome.results.contains(where: {
                $0.isDecided(in: batch) || $0.isTooLarge(in: batch) || $0.isPutOff
            })
        else { return nil }
        let skew = outcome.results.first { $0.failure?.kind == .clockSkew }?.failure
        if let skew { return run.repairs.restamp < timing.repairsMax ? nil : skew }
        return outcome.results.lazy.compactMap(\.failure).first
            ?? SyncFailure(.other, "the cloud answered for none of the records of a batch")
    }

    // MARK: Limited repairs

    /// - Throws: the failure, if this run already made the repair `SyncTiming.repairsMax` times.
    private func repair(
        _ verdict: SyncVerdict, done count: Int, because failure: SyncFailure
    ) throws(SyncFailure) -> SyncVerdict {
        guard count < timing.repairsMax else { throw failure }
        return verdict
    }

    private func doubtZone(_ run: SyncRun, because failure: SyncFailure) throws(SyncFailure) -> SyncVerdict {
        try repair(.zoneDoubted, done: run.repairs.zone, because: failure)
    }

    private func replaceStore(
        with epoch: String, _ run: SyncRun, because failure: SyncFailure
    ) throws(SyncFailure) -> SyncVerdict {
        try repair(.storeReplaced(epoch: epoch), done: run.repairs.epoch, because: failure)
    }

    /// True if the answer names this host's zone, or none.
    private func isOurs(_ zone: String?) -> Bool {
        guard let zone, let ours = account.known?.zoneID else { return true }
        return zone == ours
    }

    /// Whether the answer names another epoch. False if it names none: then a refetch follows, which is right for the
    /// same store and for a replaced one, and returns the epoch.
    private func isAnother(_ epoch: String, _ run: SyncRun) -> Bool {
        !epoch.isEmpty && epoch != run.progress?.epoch
    }
}
