package import Domain

/// Grants an adapter's slots for links, and follows each link. Use only on the event loop.
///
/// Call `take` before the first packet of a link. After a grant, call `giveBack` exactly once, however the link ended,
/// and before that `linkUp` at most once. Until `linkUp` or `giveBack`, the adapter may pause its discovery: many
/// controllers cannot scan and connect well at once.
package protocol RadioSlots: Sendable {
    /// - Parameter transport: `.ble` or `.spp`.
    /// - Returns: nil if the slot is granted. Otherwise a user-readable reason; do not call `giveBack` then.
    func take(_ link: RadioLink, over transport: LinkAddress.Transport) -> ChannelFailure?
    /// Records that the link is up, so discovery may resume.
    func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport)
    func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport)
    /// Prepares the link attempt, for example by registering a PIN agent. Call it after a granted `take`.
    ///
    /// - Parameter proceed: called exactly once, on the event loop, within seconds and possibly before this function
    ///   returns.
    func prepare(_ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void)
    /// Returns the failure, with the cause of a failed pairing if known. Call it before `giveBack`.
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
