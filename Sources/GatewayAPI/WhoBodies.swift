/// A lease in `GET /v1/leases` and `meterctl who`.
package struct WhoEntry: Codable, Hashable, Sendable {
    package var meter: String
    /// Null if this host does not know the meter's name.
    @NullCodable package var name: String?
    @NullCodable package var model: String?
    @NullCodable package var holder: String?
    @NullCodable package var holder_id: String?
    package var mine: Bool
    /// `ble`, `spp` or `usb`.
    @NullCodable package var transport: String?
    /// As in `LeaseStatus.State`, but with `held` instead of `elsewhere`.
    package var state: String
    /// Time until expiry, as far as this host knows; 0 afterwards.
    @NullCodable package var remaining_ms: Int64?
    @NullCodable package var token: UInt64?
    /// `keep` or `strict` (`LeasePolicy`).
    @NullCodable package var policy: String?
    /// Start of the lease by the cloud's clock, RFC 3339.
    @NullCodable package var since: String?
    /// Names of the hosts in the queue, in its order.
    package var waiting: [String]

    package init(meter: String, state: String, mine: Bool, waiting: [String] = []) {
        self.meter = meter
        self.state = state
        self.mine = mine
        self.waiting = waiting
    }
}

/// `GET /v1/leases`: leases with a holder or a queueing host, sorted by meter.
package struct WhoBody: Codable, Hashable, Sendable {
    package var joined: Bool
    package var leases: [WhoEntry]

    package init(joined: Bool, leases: [WhoEntry]) {
        self.joined = joined
        self.leases = leases
    }
}
