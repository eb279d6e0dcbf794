/// A lease in `GET /v1/leases` and `meterctl who`.
package struct WhoEntry: Codable, Hashable, Sendable {
    package var meter: String
    /// Name of the meter; null if unknown to this host.
    @NullCodable package var name: String?
    @NullCodable package var model: String?
    @NullCodable package var holder: String?
    @NullCodable package var holder_id: String?
    /// Whether this host holds the lease.
    package var mine: Bool
    /// `ble`, `spp` or `usb`.
    @NullCodable package var transport: String?
    /// State as in `LeaseStatus.State`, but `held` replaces `elsewhere`.
    package var state: String
    /// Time until the lease expires, by this host's knowledge; 0 after the expiry.
    @NullCodable package var remaining_ms: Int64?
    @NullCodable package var token: UInt64?
    /// `keep` or `strict` (`LeasePolicy`).
    @NullCodable package var policy: String?
    /// Start of the lease by the cloud's clock, RFC 3339.
    @NullCodable package var since: String?
    /// Names of the hosts waiting for the lease, in order.
    package var waiting: [String]

    package init(meter: String, state: String, mine: Bool, waiting: [String] = []) {
        self.meter = meter
        self.state = state
        self.mine = mine
        self.waiting = waiting
    }
}

/// `GET /v1/leases`: all leases of the zone with a holder or a waiting host, by meter.
package struct WhoBody: Codable, Hashable, Sendable {
    package var joined: Bool
    package var leases: [WhoEntry]

    package init(joined: Bool, leases: [WhoEntry]) {
        self.joined = joined
        self.leases = leases
    }
}
