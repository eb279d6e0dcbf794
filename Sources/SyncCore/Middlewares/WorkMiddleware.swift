package import MeterModel
import SettingsCore

/// Tells what waits in the outbox and reads what changed, one batch and one page in turn, then cleans up.
package struct WorkMiddleware: SyncMiddleware {
    package let name = "work"

    package init() {}

    package func proposal(_ state: SyncState, _ run: SyncRun, at now: MonotonicTime) -> SyncProposal? {
        guard let progress = run.progress else { return .perform(.readProgress) }
        if let needed = state.entryNeeded() { return adopt(needed.zone, needed.entry, state, run) }
        if let offset = state.serverOffset?.offset, isNews(offset, state) {
            return .perform(.correct(clockOffset: offset))
        }
        if state.turn == .modify || run.remaining.isEmpty, let next = modify(state, run) { return next }
        if let type = run.remaining.first {
            return .perform(.fetch(type, since: progress.tokens[type], limit: run.pageRecordsMax))
        }
        return end(state, at: now)
    }

    /// About what one alias takes as it travels.
    private static let putOffBytes = 512

    private func adopt(
        _ zone: SyncZone, _ entry: ZoneEntry, _ state: SyncState, _ run: SyncRun
    ) -> SyncProposal {
        guard run.repairs.epoch < state.timing.repairsMax else {
            return .finish(
                .failed(
                    SyncFailure(
                        .other, "the local store did not take the cloud's zone \(zone.name) of the store \(zone.epoch)")
                ))
        }
        return .perform(.adopt(zone, entry))
    }

    private func isNews(_ offset: Duration, _ state: SyncState) -> Bool {
        guard let told = state.toldOffset else { return true }
        let difference = offset - told
        return difference > state.timing.clockStep || difference < .zero - state.timing.clockStep
    }

    private func modify(_ state: SyncState, _ run: SyncRun) -> SyncProposal? {
        if let part = state.parts.first { return .perform(.push(part)) }
        guard !run.isOutboxEmpty else {
            return run.heldBack == .due ? .perform(.retryHeldBack(recordsMax: state.timing.fullRecordsMax)) : nil
        }
        // Everything is read and something changed since: a run that only tells would never come to it.
        if run.remaining.isEmpty, !state.unread.isEmpty { return .finish(.partial) }
        // What was put off is read too, and left out.
        let count = run.putOff.count
        return .perform(
            .readBatch(
                recordsMax: state.timing.batchRecordsMax + count,
                bytesMax: state.timing.batchBytesMax + count * Self.putOffBytes))
    }

    private func end(_ state: SyncState, at now: MonotonicTime) -> SyncProposal {
        let isCleanUpDue = state.lastCleanUp.map { now - $0 >= state.timing.cleanUpInterval } ?? true
        return isCleanUpDue ? .perform(.cleanUp) : .finish(.complete)
    }
}
