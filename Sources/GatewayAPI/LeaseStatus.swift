/// A meter's lease as this host sees it, in `status`.
package struct LeaseStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// No host has the lease, or only an earlier run of this host. Also without a cloud.
        case none
        case requesting
        case held
        /// This host has the lease, but has not renewed it for two thirds of its time.
        case jeopardy
        /// The lease was not renewed in time. The link is kept, because the policy is `keep`.
        case lost
        /// This host uses the meter without a lease: the cloud is unreachable, this host is `read_only`, or another
        /// host (named in `holder`) took the lease meanwhile.
        case unleased
        /// Another host has the lease.
        case elsewhere
        /// Another host has the lease, and this host waits in the queue.
        case waiting
        /// Another host had the lease but did not renew it; soon any host may get it.
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
    /// True if this host may only view and so gets no lease.
    @NullCodable package var read_only: Bool?
    /// Names of the waiting hosts, in the order of the queue.
    package var waiting: [String]

    package init(_ state: State) {
        self.state = state
        waiting = []
    }
}
