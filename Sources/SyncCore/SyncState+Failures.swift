import MeterModel
import SettingsCore

/// What the middlewares made of a failure.
extension SyncState {
    /// The operation failed; the run goes on with `next`.
    mutating func repair(_ next: [SyncOperation] = []) {
        withRun {
            $0.operation = nil
            $0.following = next
        }
    }

    mutating func split(_ first: OutboxBatch, _ second: OutboxBatch) {
        guard case .push(let batch) = run?.operation else { return }
        counters.splits += 1
        if parts.first == batch { parts.removeFirst() }
        parts.insert(contentsOf: [first, second], at: 0)
        repair()
    }

    mutating func refuse(_ batch: OutboxBatch, because failure: SyncFailure) {
        if parts.first == batch { parts.removeFirst() }
        let results = batch.records.map { PushResult(key: $0.key, failure: failure) }
        repair([.settle(batch, PushOutcome(results: results, serverTime: 0))])
    }

    /// The run goes on with how the zone is to be begun with now.
    mutating func storeReplaced(epoch: String) {
        account?.epoch = epoch
        repair()
    }

    mutating func storeWentBack() {
        repair(entryNeeded(wentBack: true).map { [.adopt($0.zone, $0.entry)] } ?? [])
    }

    mutating func zoneDoubted() {
        forgetAccount()
        repair()
        withRun { $0.repairs.zone += 1 }
    }

    mutating func zoneWentMissing() {
        account = nil
        isZoneMissing = true
        repair()
        withRun { $0.repairs.zone += 1 }
    }
}
