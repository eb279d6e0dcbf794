/// Drops readings under an older token than the newest seen, so that a paused or cut-off holder cannot overwrite its
/// successor's readings (Docs/Leases.md#rule-7).
package struct RelayFence: Sendable {
    package enum Verdict: Hashable, Sendable {
        case current
        /// The batch is the first of a newer token or another epoch.
        case newer
        case older
    }

    /// Number of remembered former epochs. A replica that does not know of a restore yet still sends batches of the
    /// former epoch.
    private static let leftMax = 8

    private var newest: (epoch: String, token: FencingToken)?
    private var left: [String] = []

    package init() {}

    /// - Parameter epoch: epoch of the cloud's store. Tokens of two epochs cannot be compared, so a new epoch restarts
    ///   the comparison.
    package mutating func judge(_ token: FencingToken, in epoch: String) -> Verdict {
        guard let known = newest else {
            newest = (epoch, token)
            return .newer
        }
        guard epoch == known.epoch else {
            guard !left.contains(epoch) else { return .older }
            left = [known.epoch] + left.prefix(Self.leftMax - 1)
            newest = (epoch, token)
            return .newer
        }
        guard token >= known.token else { return .older }
        newest?.token = token
        return token > known.token ? .newer : .current
    }
}
