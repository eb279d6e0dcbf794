extension SyncState {
    /// Halves a batch that is too large or unreadable, until only the faulty record remains, which is set aside.
    func splitting(_ input: SyncInput) -> SyncVerdict? {
        guard case .cloudFailed(let failure) = input, let run, run.ending == nil,
            case .push(let batch) = run.operation, failure.kind == .limitExceeded || failure.kind == .badRequest
        else { return nil }
        guard batch.records.count > 1 else { return .refused(batch, because: failure) }
        let middle = batch.records.count / 2
        return .split(
            OutboxBatch(records: Array(batch.records[..<middle])),
            OutboxBatch(records: Array(batch.records[middle...])), because: failure)
    }
}
