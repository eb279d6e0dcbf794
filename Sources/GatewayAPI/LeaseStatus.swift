/// A meter's lease as this host sees it, in `status`.
package struct LeaseStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// No host has the lease, its holder is an earlier run of this host's meterd, or there is no cloud.
        case none
        case requesting
        case held
        /// Held, but not renewed for two thirds of its duration.
        case jeopardy
        /// Not renewed in time; the link remains, because the policy is `keep`.
        case lost
        /// This host uses the meter without a lease: the cloud is unreachable, this host is `read_only`, or `holder`
        /// took the lease meanwhile.
        case unleased
        case elsewhere
        /// Another host has the lease, and this host queues for it.
        case waiting
        /// Another host did not renew the lease; soon any host may get it.
        case expired
    }

    package var state: State
    @NullCodable package var holder: String?
    @NullCodable package var holder_id: String?
    @NullCodable package var token: UInt64?
    /// `ble`, `spp` or `usb`.
    @NullCodable package var transport: String?
    /// `keep` or `strict`.
    @NullCodable package var policy: String?
    /// Time until expiry, as far as this host knows; 0 afterwards.
    @NullCodable package var remaining_ms: Int64?
    /// Start of the lease by the cloud's clock, RFC 3339.
    @NullCodable package var since: String?
    /// Set if this host may only view meters and so gets no lease.
    @NullCodable package var read_only: Bool?
    /// Names of the hosts in the queue, in its order.
    package var waiting: [String]

    package init(_ state: State) {
        self.state = state
        waiting = []
    }
}
