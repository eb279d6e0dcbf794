/// State while the cloud has no room for some changes. The store holds these changes back and pushes the rest. The
/// session occasionally retries a few of them, and more as long as the cloud accepts some.
package struct QuotaState: Hashable, Sendable {
    package var failure: SyncFailure
    package var since: MonotonicTime
    /// Number of consecutive runs in which the cloud was full.
    package var runs: Int
    package var retryAt: MonotonicTime
}

extension SyncState {
    /// Nil if nothing is held back, or if another run is scheduled anyway.
    var nextRetryOfHeldBack: MonotonicTime? { schedule.again == nil ? fullness?.retryAt : nil }

    mutating func beginHeldBack(because trigger: SyncTrigger, at now: MonotonicTime) -> SyncRun.DeferredChanges {
        switch trigger {
        case .asked, .started, .resumed: return .due
        case .localChange, .remoteChange, .streamOpened, .networkGained, .poll, .retry: break
        }
        guard let fullness, fullness.retryAt <= now else { return .left }
        // A run that ends early must not trigger the retry again immediately.
        self.fullness?.retryAt = now + timing.fullBackoff.ceiling
        return .due
    }

    mutating func putOffHeldBack(at now: MonotonicTime) {
        guard let fullness else { return }
        self.fullness?.retryAt = max(fullness.retryAt, now + timing.fullBackoff.base)
    }

    /// Clears the quota state if no change is held back. A restart of meterd loses the state, so held-back changes are
    /// then retried.
    mutating func lookAtHeldBack(_ progress: SyncProgress) {
        if progress.heldBack == 0 {
            fullness = nil
            withRun { $0.heldBack = .left }
        } else if fullness == nil {
            withRun { if $0.heldBack == .left { $0.heldBack = .due } }
        }
    }

    mutating func heldBackRetried(_ count: Int) {
        guard finishRetry() else { return }
        if count == 0 {
            withRun {
                $0.heldBack = .left
                $0.progress?.heldBack = 0
            }
            if run?.refusal == nil { fullness = nil }
        } else {
            withRun {
                $0.heldBack = .trying(isTaken: false)
                $0.isOutboxEmpty = false
            }
        }
    }

    mutating func noteRefusals(_ outcome: PushOutcome) {
        let refusal = outcome.results.last { $0.failure?.kind == .quotaExceeded }?.failure
        let isTaken = outcome.results.contains { $0.failure == nil }
        withRun { run in
            run.refusal = refusal ?? run.refusal
            if isTaken, case .trying = run.heldBack { run.heldBack = .trying(isTaken: true) }
        }
    }

    mutating func noteFullness(_ moment: SyncMoment) {
        guard let refusal = run?.refusal else { return }
        let runs = (fullness?.runs ?? 0).addingClamped(1)
        // At least half the bound: a full cloud should not get another request immediately.
        let delay =
            (timing.fullBackoff.bound(afterFailures: runs)
                + timing.fullBackoff.delay(afterFailures: runs, random: moment.random)) / 2
        fullness = QuotaState(
            failure: refusal, since: fullness?.since ?? moment.now, runs: runs, retryAt: moment.now + delay)
    }
}

extension SyncRun {
    enum DeferredChanges: Hashable, Sendable {
        case left
        /// Some held-back changes are retried once everything else has been pushed.
        case due
        /// Batches include some held-back changes. `isTaken`: whether the cloud accepted one of them.
        case trying(isTaken: Bool)

        /// Retries more held-back changes only if the cloud accepted one.
        mutating func batchesEnded() {
            switch self {
            case .trying(isTaken: true): self = .due
            case .trying(isTaken: false): self = .left
            case .left, .due: break
            }
        }
    }
}
