/// The cloud has no room for some of this host's changes. The store holds those back, so that everything behind them is
/// pushed; some of them are tried again now and then, and all of them as soon as one of those is accepted.
package struct Fullness: Hashable, Sendable {
    /// The cloud's latest refusal.
    package var failure: SyncFailure
    package var since: MonotonicTime
    /// Runs in a row that met a full cloud.
    package var runs: Int
    /// When some of what is held back is tried again, unless a person asks sooner.
    package var retryAt: MonotonicTime
}

extension SyncState {
    /// Nil while another run is wanted anyway.
    var nextRetryOfHeldBack: MonotonicTime? { schedule.again == nil ? fullness?.retryAt : nil }

    /// Decides whether a new run tries again what is held back.
    mutating func beginHeldBack(because trigger: SyncTrigger, at now: MonotonicTime) -> SyncRun.HeldBack {
        switch trigger {
        case .asked, .started, .resumed: return .due
        case .localChange, .remoteChange, .streamOpened, .networkGained, .poll, .retry: break
        }
        guard let fullness, fullness.retryAt <= now else { return .left }
        // If the run does not get that far, it is not asked for again at once.
        self.fullness?.retryAt = now + timing.fullBackoff.ceiling
        return .due
    }

    /// A person who cancels a run does not want the next one at once.
    mutating func putOffHeldBack(at now: MonotonicTime) {
        guard let fullness else { return }
        self.fullness?.retryAt = max(fullness.retryAt, now + timing.fullBackoff.base)
    }

    /// Most hosts have nothing held back; after a restart nobody knows since when something has been.
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

    /// Called at the end of a run that was neither cancelled nor failed.
    mutating func noteFullness(_ moment: SyncMoment) {
        guard let refusal = run?.refusal else { return }
        let runs = (fullness?.runs ?? 0).addingClamped(1)
        // At least half the bound: unlike a cloud that does not answer, a full one should not be asked again at once.
        let delay =
            (timing.fullBackoff.bound(afterFailures: runs)
                + timing.fullBackoff.delay(afterFailures: runs, random: moment.random)) / 2
        fullness = Fullness(
            failure: refusal, since: fullness?.since ?? moment.now, runs: runs, retryAt: moment.now + delay)
    }
}

extension SyncRun {
    /// What a run still has to do about the changes that are held back.
    enum HeldBack: Hashable, Sendable {
        /// Nothing, or nothing more.
        case left
        /// Try some of them once everything else has been pushed.
        case due
        /// Some of them are waiting to be sent.
        case trying(isTaken: Bool)

        /// Everything that was waiting has been pushed; more follows only if some of it was accepted.
        mutating func batchesEnded() {
            switch self {
            case .trying(isTaken: true): self = .due
            case .trying(isTaken: false): self = .left
            case .left, .due: break
            }
        }
    }
}
