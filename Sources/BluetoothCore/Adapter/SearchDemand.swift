package import Domain

/// Airtime that an adapter's search may use: `[bluetooth] scan` in meterd.toml.
package enum SearchMode: String, Sendable, CaseIterable {
    /// Rounds with rests in between, whatever is linked.
    case always
    /// As `always` while a wanted meter is missing; otherwise a few seconds a minute.
    case gentle
    /// Searches only while a wanted meter is missing, or a person is looking.
    case onDemand = "on-demand"
}

package struct SearchDemand: Hashable, Sendable {
    /// Radios of the wanted meters without a link.
    package var missing: DiscoveryKinds
    package var missingCount: Int
    /// Whether a wanted meter has a link elsewhere, and so is silent until that ends.
    package var hasDistant: Bool
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
