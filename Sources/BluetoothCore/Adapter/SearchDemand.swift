package import MeterModel

/// How much of the air an adapter's search may take: `[bluetooth] scan` in meterd.toml.
package enum SearchMode: String, Sendable, CaseIterable {
    /// Rounds with rests between them, whatever is linked.
    case always
    /// The same while a meter that is wanted is missing; a few seconds a minute while none is.
    case gentle
    /// Only while a meter that is wanted is missing, or a person looks.
    case onDemand = "on-demand"
}

/// What is asked of an adapter's search just now.
package struct SearchDemand: Hashable, Sendable {
    /// The radios over which meters may come that are wanted and have no link.
    package var missing: DiscoveryKinds
    /// How many meters those are.
    package var missingCount: Int
    /// A meter that is wanted has a link elsewhere: nobody hears it, until that ends.
    package var hasDistant: Bool
    /// A person looks for meters, until then.
    package var byHandUntil: MonotonicTime?
    /// A meter that tells something many times a second does so over this adapter.
    package var hasFastStream: Bool

    package init(
        missing: DiscoveryKinds = [], missingCount: Int = 0, hasDistant: Bool = false,
        byHandUntil: MonotonicTime? = nil,
        hasFastStream: Bool = false
    ) {
        self.missing = missing
        self.missingCount = missingCount
        self.hasDistant = hasDistant
        self.byHandUntil = byHandUntil
        self.hasFastStream = hasFastStream
    }
}
