package import Domain

/// Decides whether an adapter can have one more link, and is told what becomes of it. To be used only on the loop.
///
/// To open a link to a meter, call `take` before the first packet and, if it was granted, `giveBack` exactly once,
/// however the attempt or the link ended; between the two, `linkUp` at most once. Many controllers cannot scan and
/// connect well at the same time, so the adapter may pause its discovery from `take` until `linkUp` or `giveBack`.
package protocol RadioSlots: Sendable {
    /// A link over `link.adapter` is about to be attempted.
    ///
    /// - Parameter transport: `.ble` or `.spp`.
    /// - Returns: nil if the slot is granted; otherwise the reason for people, and there is nothing to give back.
    func take(_ link: RadioLink, over transport: LinkAddress.Transport) -> ChannelFailure?
    /// The link is up: the attempt no longer needs discovery to pause.
    func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport)
    /// The attempt failed, or the link is gone.
    func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport)
    /// Prepares what is possible before the first packet, such as for a meter that will want a PIN. To be called after
    /// a granted `take`.
    ///
    /// - Parameter proceed: called on the loop, once, perhaps before this call has returned; soon, whatever happens.
    func prepare(_ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void)
    /// Why the attempt failed, including what is known about the pairing. To be called before `giveBack`.
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
