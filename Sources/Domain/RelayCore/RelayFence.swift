/// Drops readings with an older fencing token, so that a paused or disconnected holder cannot overwrite its successor's
/// readings (Docs/Leases.md#rule-7).
package struct RelayFence: Sendable {
    package enum Verdict: Hashable, Sendable {
        case current
        /// First batch with a newer token, or of another epoch.
        case newer
        case older
    }

    /// Number of remembered earlier epochs. After a restore from a backup, a replica may still send batches of them.
    private static let leftMax = 8

    private var newest: (epoch: String, token: FencingToken)?
    private var left: [String] = []

    package init() {}

    /// - Parameter epoch: of the cloud's store. Tokens of different epochs cannot be compared.
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
