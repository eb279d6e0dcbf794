import MeterModel
import SettingsCore

/// The table of Docs/Sync.md#errors: what each failure means to the session. Also finds answers that
/// contradict themselves, which would otherwise keep a run busy for ever.
package struct ErrorMiddleware: SyncMiddleware {
    package let name = "errors"

    package init() {}

    package func read(_ event: SyncEvent, _ state: SyncState, _ moment: SyncMoment) -> SyncEvent {
        switch event {
        case .cloudFailed(let failure): read(failure, state)
        case .storeFailed(let message): readStoreFailure(message, state)
        case .streamBroke(let failure): readStreamFailure(failure, state)
        case .pushed(let outcome, _): doubt(outcome, state).map { .interrupted($0) } ?? event
        case .pageFetched(let page): read(page, event, state)
        default: event
        }
    }

    private func read(_ failure: SyncFailure, _ state: SyncState) -> SyncEvent {
        guard let run = state.run, let operation = run.operation else { return .cloudFailed(failure) }
        guard run.ending == nil else { return .abandoned }
        if let halt = SyncHalt(failure) { return .halted(halt) }
        let repairsMax = state.timing.repairsMax
        switch (failure.kind, operation) {
        case (.zoneNotFound, _) where run.repairs.zone < repairsMax:
            return .zoneMissing(failure)
        case (.anotherZone, .fetch(_, .some, _)):
            return doubtZone(run, state, because: failure)
        case (.timelineLost(let epoch, let zone), .fetch(_, .some, _)):
            guard isOurs(zone, state) else { return doubtZone(run, state, because: failure) }
            if !epoch.isEmpty, epoch != run.progress?.epoch {
                return replace(with: epoch, run, state, because: failure)
            }
            return run.repairs.epoch < repairsMax ? .storeWentBack : .interrupted(failure)
        case (.changeTokenExpired(let epoch, let zone), .fetch(let type, .some, _)):
            guard isOurs(zone, state) else { return doubtZone(run, state, because: failure) }
            // A cloud that does not say which store it has: reading anew is right in both cases, and the page will tell.
            if !epoch.isEmpty, epoch != run.progress?.epoch {
                return replace(with: epoch, run, state, because: failure)
            }
            return run.repairs.refetch[type, default: 0] < repairsMax ? .tokenExpired(type) : .interrupted(failure)
        case (.limitExceeded, .fetch(_, _, let limit)) where limit > 1:
            return .pageShortened(limit: limit / 2)
        case (.clockSkew, .push) where run.repairs.restamp < repairsMax:
            return .stampsRefused
        default:
            return .interrupted(failure)
        }
    }

    private func readStoreFailure(_ message: String, _ state: SyncState) -> SyncEvent {
        guard let run = state.run, run.operation != nil else { return .storeFailed(message) }
        guard run.ending == nil else { return .abandoned }
        return .interrupted(SyncFailure(.other, "the local store failed: \(message)"))
    }

    /// During a run the stream's failure is only the stream's: the run's own call will fail in the same way, and then
    /// nothing is under way any more.
    private func readStreamFailure(_ failure: SyncFailure, _ state: SyncState) -> SyncEvent {
        guard case .idle = state.phase, let halt = SyncHalt(failure) else { return .streamBroke(failure) }
        return .halted(halt)
    }

    /// Whether an answer is of the zone that the cloud said this is. One that names none may be.
    private func isOurs(_ zone: String?, _ state: SyncState) -> Bool {
        guard let zone, let ours = state.account?.zoneID else { return true }
        return zone == ours
    }

    private func doubtZone(_ run: SyncRun, _ state: SyncState, because failure: SyncFailure) -> SyncEvent {
        run.repairs.zone < state.timing.repairsMax ? .zoneDoubted : .interrupted(failure)
    }

    private func replace(
        with epoch: String, _ run: SyncRun, _ state: SyncState, because failure: SyncFailure
    ) -> SyncEvent {
        run.repairs.epoch < state.timing.repairsMax ? .storeReplaced(epoch: epoch) : .interrupted(failure)
    }

    /// Why a batch's answer brings the run no further; nil if it does.
    private func doubt(_ outcome: PushOutcome, _ state: SyncState) -> SyncFailure? {
        guard let run = state.run, run.ending == nil, case .push(let batch) = run.operation,
            !outcome.results.contains(where: {
                $0.isDecided(in: batch) || $0.isTooLarge(in: batch) || $0.isPutOff
            })
        else { return nil }
        let skew = outcome.results.first { $0.failure?.kind == .clockSkew }?.failure
        if let skew { return run.repairs.restamp < state.timing.repairsMax ? nil : skew }
        return outcome.results.lazy.compactMap(\.failure).first
            ?? SyncFailure(.other, "the cloud answered for none of the records of a batch")
    }

    private func read(_ page: ChangesPage, _ event: SyncEvent, _ state: SyncState) -> SyncEvent {
        guard let run = state.run, run.ending == nil, case .fetch(let type, let since, _) = run.operation else {
            return event
        }
        let epoch = page.epoch
        guard isOurs(page.zoneID, state) else {
            return doubtZone(
                run, state, because: SyncFailure(.other, "the cloud sent a page of another zone than it says it is"))
        }
        if epoch != run.progress?.epoch {
            let failure = SyncFailure(.other, "the cloud's store changes all the time, now it is \(epoch)")
            return replace(with: epoch, run, state, because: failure)
        }
        if page.type != type {
            return .interrupted(
                SyncFailure(.other, "the cloud sent \(page.type.rawValue), asked for \(type.rawValue)"))
        }
        if page.moreComing, page.token == since {
            return .interrupted(SyncFailure(.other, "the cloud's next page of \(type.rawValue) is the same again"))
        }
        return event
    }
}
