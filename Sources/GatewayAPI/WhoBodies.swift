/// One lease in `GET /v1/leases` and `meterctl who`. Unknown or not applicable is null.
package struct WhoEntry: Codable, Hashable, Sendable {
    /// The meter's id.
    package var meter: String
    /// The name that a person gave the meter; null if this host does not know it.
    @NullCodable package var name: String?
    @NullCodable package var model: String?
    /// The name of the host that has it.
    @NullCodable package var holder: String?
    @NullCodable package var holder_id: String?
    /// Whether this host has it.
    package var mine: Bool
    /// `ble`, `spp` or `usb`.
    @NullCodable package var transport: String?
    /// As `LeaseStatus.State`, with `held` for `elsewhere`.
    package var state: String
    /// Time until it expires, as far as this host knows; 0 once it has.
    @NullCodable package var remaining_ms: Int64?
    @NullCodable package var token: UInt64?
    /// `keep` or `strict`.
    @NullCodable package var policy: String?
    /// Since when, by the cloud's clock, RFC 3339.
    @NullCodable package var since: String?
    /// Names of the waiting hosts, in order.
    package var waiting: [String]

    package init(meter: String, state: String, mine: Bool, waiting: [String] = []) {
        self.meter = meter
        self.state = state
        self.mine = mine
        self.waiting = waiting
    }
}

/// `GET /v1/leases`: every lease of the zone that somebody has or waits for, by meter.
package struct WhoBody: Codable, Hashable, Sendable {
    /// Whether this host belongs to a cloud. Without one there are no leases.
    package var joined: Bool
    package var leases: [WhoEntry]

    package init(joined: Bool, leases: [WhoEntry]) {
        self.joined = joined
        self.leases = leases
    }
}
