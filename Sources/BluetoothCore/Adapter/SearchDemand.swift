package import Domain

/// How much airtime an adapter's search may use: `[bluetooth] scan` in meterd.toml.
package enum SearchMode: String, Sendable, CaseIterable {
    /// Rounds with rests in between, whatever is linked.
    case always
    /// The same while a wanted meter is missing; otherwise a few seconds a minute.
    case gentle
    /// Only while a wanted meter is missing, or a person is looking.
    case onDemand = "on-demand"
}

/// What an adapter's search is needed for at present.
package struct SearchDemand: Hashable, Sendable {
    /// The radios over which wanted meters without a link may come.
    package var missing: DiscoveryKinds
    /// The number of those meters.
    package var missingCount: Int
    /// A wanted meter has a link elsewhere, so it is not heard until that ends.
    package var hasDistant: Bool
    /// Until when a person is looking for meters, if so.
    package var byHandUntil: MonotonicTime?
    /// Whether a meter sends something many times a second over this adapter.
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
