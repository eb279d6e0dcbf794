package import MeterModel

/// What the meters of this host need of its radios just now.
package struct RadioDemand: Hashable, Sendable {
    /// Meters that are wanted and have no link, by the radio over which they may be heard. One may be heard over both.
    package var missing: [LinkAddress.Transport: Int]
    /// One that is wanted is used by another host, so that nobody hears it until that host lets go.
    package var hasDistant: Bool
    /// Adapters over which a meter tells something many times a second.
    package var streaming: Set<MACAddress>

    package init(
        missing: [LinkAddress.Transport: Int] = [:], hasDistant: Bool = false, streaming: Set<MACAddress> = []
    ) {
        self.missing = missing
        self.hasDistant = hasDistant
        self.streaming = streaming
    }
}
