/// An observer's side of one watched meter: what of the batches that come is shown.
package struct RelayObserver: Sendable {
    /// A batch as it came from the cloud.
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
        /// Show the readings, after the gap.
        case show(missed: Int)
        /// Show nothing: it was measured under an older token, or came before.
        case drop
    }

    private var fence = RelayFence()
    private var number: UInt64 = 0
    private var missed = 0
    /// Batches that were dropped because of an older token.
    package private(set) var refusedCount = 0

    package init() {}

    package mutating func received(_ arrival: Arrival) -> Action {
        switch fence.judge(arrival.token, in: arrival.epoch) {
        case .older:
            refusedCount += 1
            return .drop
        case .newer:
            // How many came before, nobody here knows.
            number = arrival.batch.number
        case .current:
            guard arrival.batch.number > number else { return .drop }
            number = arrival.batch.number
        }
        defer { missed = 0 }
        return .show(missed: missed + arrival.batch.missed)
    }

    /// The cloud dropped readings on their way here.
    package mutating func lost(_ count: Int) { missed += count }
}
