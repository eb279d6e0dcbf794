import MeterModel
import SettingsCore

/// Splits a batch that the cloud finds too large, or cannot read, down to the one record that is to blame; that one is
/// parked with the reason. A batch of one is never split, so it ends.
package struct SplittingMiddleware: SyncMiddleware {
    package let name = "splitting"

    package init() {}

    package func read(_ event: SyncEvent, _ state: SyncState, _ moment: SyncMoment) -> SyncEvent {
        guard case .cloudFailed(let failure) = event, let run = state.run, run.ending == nil,
            case .push(let batch) = run.operation, failure.kind == .limitExceeded || failure.kind == .badRequest
        else { return event }
        guard batch.records.count > 1 else { return .refused(batch, because: failure) }
        let middle = batch.records.count / 2
        return .split(
            OutboxBatch(records: Array(batch.records[..<middle])),
            OutboxBatch(records: Array(batch.records[middle...])), because: failure)
    }
}
