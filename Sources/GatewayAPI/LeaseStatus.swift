/// A meter's lease as this host sees it, in `status`. Unknown or not applicable is null.
package struct LeaseStatus: Codable, Hashable, Sendable {
    /// The values of `state`.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Nobody has the lease, or at most an earlier run of this host; or this host belongs to no cloud.
        case none
        /// This host is asking for it.
        case requesting
        /// This host has it.
        case held
        /// This host has it, but has not renewed it for two thirds of its time.
        case jeopardy
        /// It could not be renewed in time. The link is kept, because the policy is `keep`.
        case lost
        /// This host uses the meter without a lease: the cloud cannot be reached, this host may only look
        /// (`read_only`), or another host, which is then named, has got it in the meantime.
        case unleased
        /// Another host has it.
        case elsewhere
        /// As `elsewhere`, and this host is waiting for it.
        case waiting
        /// Another host had it but did not renew it; soon anybody may have it.
        case expired
    }

    package var state: State
    /// The holder's name.
    @NullCodable package var holder: String?
    @NullCodable package var holder_id: String?
    @NullCodable package var token: UInt64?
    /// `ble`, `spp` or `usb`.
    @NullCodable package var transport: String?
    /// `keep` or `strict`.
    @NullCodable package var policy: String?
    /// Time until it expires, as far as this host knows; 0 once it has.
    @NullCodable package var remaining_ms: Int64?
    /// Since when, by the cloud's clock, RFC 3339.
    @NullCodable package var since: String?
    /// True where this host may only look, so that it gets no lease; otherwise null.
    @NullCodable package var read_only: Bool?
    /// Names of the waiting hosts, in order.
    package var waiting: [String]

    package init(_ state: State) {
        self.state = state
        waiting = []
    }
}
