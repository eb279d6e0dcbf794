package import Domain

/// Airtime that an adapter's search may use: `[bluetooth] scan` in meterd.toml.
package enum SearchMode: String, Sendable, CaseIterable {
    /// Searches in rounds with pauses, regardless of open links.
    case always
    /// Searches like `always` while a wanted meter is missing, otherwise for a few seconds a minute.
    case gentle
    /// Searches only while a wanted meter is missing, or while a person is searching.
    case onDemand = "on-demand"
}

package struct SearchDemand: Hashable, Sendable {
    /// Radios on which to search for wanted meters that have no link.
    package var missing: DiscoveryKinds
    package var missingCount: Int
    /// Whether another host holds a wanted meter, which does not advertise while it is linked to that host.
    package var hasDistant: Bool
    package var byHandUntil: MonotonicTime?
    /// Whether a meter sends data many times a second over this adapter.
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
