package import Domain

/// Grants an adapter's slots for links, and follows each link. Use only on the loop.
///
/// Call `take` before the first packet of a link to a meter. After a grant, call `giveBack` exactly once, however the
/// attempt or the link ended. In between, call `linkUp` at most once. Many controllers cannot scan and connect well at
/// the same time, so the adapter may pause its discovery from `take` until `linkUp` or `giveBack`.
package protocol RadioSlots: Sendable {
    /// Requests a slot for an attempt over `link.adapter`.
    ///
    /// - Parameter transport: `.ble` or `.spp`.
    /// - Returns: nil if the slot is granted. Otherwise a user-readable reason; do not call `giveBack` then.
    func take(_ link: RadioLink, over transport: LinkAddress.Transport) -> ChannelFailure?
    /// Notes that the link is up: the attempt no longer needs discovery to pause.
    func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport)
    func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport)
    /// Prepares the attempt, for example for a meter that will require a PIN. Call it after a granted `take`.
    ///
    /// - Parameter proceed: called exactly once, on the loop, within seconds and possibly before this function returns.
    func prepare(_ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void)
    /// Returns the failure, with the cause of a failed pairing added if known. Call it before `giveBack`.
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
