package import IOPorts
package import MeterModel

/// Says whether an adapter bears one more link, and hears what becomes of it. Only used on the loop.
///
/// Whoever opens a link to a meter calls `take` before the first packet, and after a take that was granted exactly one
/// `giveBack`, however the attempt or the link ended; between the two, `linkUp` at most once. Many controllers scan and
/// connect badly at once, so the adapter may rest its discovery from `take` until `linkUp` or `giveBack`.
package protocol RadioSlots: Sendable {
    /// A link over `link.adapter` is about to be attempted.
    ///
    /// - Parameter transport: `.ble` or `.spp`.
    /// - Returns: nil where it may be; otherwise why not, for people, and nothing is to be given back.
    func take(_ link: RadioLink, over transport: LinkAddress.Transport) -> ChannelFailure?
    /// The link is up: the attempt needs no quiet any more.
    func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport)
    /// The attempt failed, or the link is gone.
    func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport)
    /// Has what can be done before the first packet done, as for a meter that will want a PIN. After a take that was
    /// granted.
    ///
    /// - Parameter proceed: called on the loop, once, perhaps before this call has returned; soon, whatever happens.
    func prepare(_ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void)
    /// Why the attempt failed, with what is known of the pairing. Before `giveBack`.
    func explain(
        _ failure: ChannelFailure, of link: RadioLink, over transport: LinkAddress.Transport
    ) -> ChannelFailure
}

extension RadioSlots {
    package func prepare(
        _ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void
    ) {
        proceed()
    }

    package func explain(
        _ failure: ChannelFailure, of link: RadioLink, over transport: LinkAddress.Transport
    ) -> ChannelFailure {
        failure
    }
}
