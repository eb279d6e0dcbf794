/// Filters incoming batches of one watched meter.
package struct RelayObserver: Sendable {
    package struct Arrival: Hashable, Sendable {
        package var epoch: String
        package var token: FencingToken
        package var holder: HostID
        package var holderName: String
        package var batch: RelayBatch

        package init(epoch: String, token: FencingToken, holder: HostID, holderName: String, batch: RelayBatch) {
            self.epoch = epoch
            self.token = token
            self.holder = holder
            self.holderName = holderName
            self.batch = batch
        }
    }

    package enum Action: Hashable, Sendable {
        /// Show the readings, after a gap of `missed` readings.
        case show(missed: Int)
        /// Ignore the batch: its token or number is older.
        case drop
    }

    private var fence = RelayFence()
    private var number: UInt64 = 0
    private var missed = 0
    /// Number of batches dropped because of an older token.
    package private(set) var refusedCount = 0

    package init() {}

    package mutating func received(_ arrival: Arrival) -> Action {
        switch fence.judge(arrival.token, in: arrival.epoch) {
        case .older:
            refusedCount += 1
            return .drop
        case .newer:
            // Batch numbers of different leases cannot be compared.
            number = arrival.batch.number
        case .current:
            guard arrival.batch.number > number else { return .drop }
            number = arrival.batch.number
        }
        defer { missed = 0 }
        return .show(missed: missed + arrival.batch.missed)
    }

    /// Counts readings that the cloud dropped.
    package mutating func lost(_ count: Int) { missed += count }
}
