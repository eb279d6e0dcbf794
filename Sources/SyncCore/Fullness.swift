package import MeterModel

/// The cloud has no room for something that this host has to tell. The store holds it back, so that everything behind it is
/// told; some of it is tried again now and then, and all of it as soon as something of that is taken.
package struct Fullness: Hashable, Sendable {
    /// What the cloud said last.
    package var failure: SyncFailure
    package var since: MonotonicTime
    /// Runs in a row in which it had no room.
    package var runs: Int
    /// When some of what is held back is tried again, unless a person asks before.
    package var retryAt: MonotonicTime
}

extension SyncState {
    /// nil while another run is wanted anyway.
    var nextRetryOfHeldBack: MonotonicTime? { schedule.again == nil ? fullness?.retryAt : nil }

    /// Whether a run that begins tries again what is held back.
    mutating func beginHeldBack(because trigger: SyncTrigger, at now: MonotonicTime) -> SyncRun.HeldBack {
        switch trigger {
        case .asked, .started, .resumed: return .due
        case .localChange, .remoteChange, .streamOpened, .networkGained, .poll, .retry: break
        }
        guard let fullness, fullness.retryAt <= now else { return .left }
        // Should the run not come to it, it is not asked for again at once.
        self.fullness?.retryAt = now + timing.fullBackoff.ceiling
        return .due
    }

    /// Whoever cancelled a run does not want the next at once.
    mutating func putOffHeldBack(at now: MonotonicTime) {
        guard let fullness else { return }
        self.fullness?.retryAt = max(fullness.retryAt, now + timing.fullBackoff.base)
    }

    /// Most hosts have nothing there, and after a restart nobody knows since when.
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

    /// At the end of a run that was neither cancelled nor failed.
    mutating func noteFullness(_ moment: SyncMoment) {
        guard let refusal = run?.refusal else { return }
        let runs = min(fullness?.runs ?? 0, Int.max - 1) + 1
        // At least half of it: unlike a cloud that does not answer, a full one is not to be asked at once.
        let delay =
            (timing.fullBackoff.bound(afterFailures: runs)
                + timing.fullBackoff.delay(afterFailures: runs, random: moment.random)) / 2
        fullness = Fullness(
            failure: refusal, since: fullness?.since ?? moment.now, runs: runs, retryAt: moment.now + delay)
    }
}

extension SyncRun {
    /// What a run does about what is held back.
    enum HeldBack: Hashable, Sendable {
        /// Nothing, or nothing more.
        case left
        /// Some of it is to be tried once everything else is told.
        case due
        /// Some of it waits to be sent.
        case trying(isTaken: Bool)

        /// All that waited was told: more follows only where some of it was taken.
        mutating func batchesEnded() {
            switch self {
            case .trying(isTaken: true): self = .due
            case .trying(isTaken: false): self = .left
            case .left, .due: break
            }
        }
    }
}
