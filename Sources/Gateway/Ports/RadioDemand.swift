package import Domain

/// What the meters of this host need from its radios now.
package struct RadioDemand: Hashable, Sendable {
    /// Number of meters that are wanted and have no link, by the radio over which they may be heard. A meter may count
    /// for both radios.
    package var missing: [LinkAddress.Transport: Int]
    /// A wanted meter is in use by another host, so that it is not heard until that host lets go.
    package var hasDistant: Bool
    /// Adapters over which a meter sends something many times a second.
    package var streaming: Set<MACAddress>

    package init(
        missing: [LinkAddress.Transport: Int] = [:], hasDistant: Bool = false, streaming: Set<MACAddress> = []
    ) {
        self.missing = missing
        self.hasDistant = hasDistant
        self.streaming = streaming
    }
}
