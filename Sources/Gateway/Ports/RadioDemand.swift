package import Domain

package struct RadioDemand: Hashable, Sendable {
    /// Number of wanted meters without a link, by kind of link. A meter that may use LE and Classic counts for both.
    package var missing: [LinkAddress.Transport: Int]
    /// Whether another host uses a meter that this host wants. This host may then receive no advertisements from it.
    package var hasDistant: Bool
    /// Adapters over which a meter sends several readings a second.
    package var streaming: Set<MACAddress>

    package init(
        missing: [LinkAddress.Transport: Int] = [:], hasDistant: Bool = false, streaming: Set<MACAddress> = []
    ) {
        self.missing = missing
        self.hasDistant = hasDistant
        self.streaming = streaming
    }
}
