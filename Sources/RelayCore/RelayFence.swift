package import LeaseCore

/// Lets nothing pass that was measured under an older token than the newest one seen: a holder that was paused, or cut
/// off, cannot paint over its successor's readings (Docs/Leases.md#rule-7).
package struct RelayFence: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        case current
        /// The first of a newer token, or of a newer epoch.
        case newer
        case older
    }

    /// Epochs that were left. One of them comes from a copy of the cloud that has not heard of the restore.
    private static let leftMax = 8

    private var epoch: String?
    private var token: FencingToken?
    private var left: [String] = []

    package init() {}

    /// - Parameter epoch: of the cloud's store. Tokens of two epochs cannot be compared: a new one begins anew.
    package mutating func judge(_ token: FencingToken, in epoch: String) -> Verdict {
        if epoch != self.epoch {
            guard !left.contains(epoch) else { return .older }
            if let old = self.epoch { left = [old] + left.prefix(Self.leftMax - 1) }
            self.epoch = epoch
            self.token = token
            return .newer
        }
        guard let known = self.token else {
            self.token = token
            return .newer
        }
        if token < known { return .older }
        defer { self.token = token }
        return token > known ? .newer : .current
    }
}
