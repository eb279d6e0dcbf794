/// A line of a meter's log: an event that happened once or several times. Logs in the meter's own memory:
/// `MeterLogBody`.
package struct LogLineBody: Codable, Hashable, Sendable {
    /// `held`, `state`, `setting`, `command`, `remedy` or `alert`; later versions may add more.
    package var kind: String
    /// Time of the first occurrence by the answering host's system clock, RFC 3339.
    package var at: String
    /// Time of the last occurrence. For `held`, the end of the period in which the host held the meter; null until
    /// then.
    @NullCodable package var until: String?
    package var age_ms: Int64
    package var count: Int
    /// Host that recorded the event; null for a setting, which belongs to all hosts.
    @NullCodable package var host: String?
    @NullCodable package var host_id: String?
    package var mine: Bool
    /// Time of the first occurrence by the recording host's system clock at that time.
    package var host_time: String
    /// Depends on `kind`: link (`ble`, `spp`, `usb`) over which the host held the meter, state, setting's key, command,
    /// remedy or alert.
    package var what: String
    /// Depends on `kind`: reason why the host no longer holds the meter, cause of a state or remedy, new value of a
    /// setting, or outcome of a command or alert.
    @NullCodable package var detail: String?
    /// Host of the user who changed the setting or sent the command, or `MQTT`; null for an automatic event.
    @NullCodable package var by: String?
    @NullCodable package var by_id: String?
    @NullCodable package var adapter: String?
    /// Fencing token of the lease under which the host held the meter; null without a lease.
    @NullCodable package var token: UInt64?
    /// Fencing token of the last lease, if the line sums up several periods of holding the meter.
    @NullCodable package var last_token: UInt64?

    package init(
        kind: String, at: String, until: String?, age_ms: Int64, count: Int, mine: Bool, host_time: String, what: String
    ) {
        self.kind = kind
        self.at = at
        self.until = until
        self.age_ms = age_ms
        self.count = count
        self.mine = mine
        self.host_time = host_time
        self.what = what
    }
}

/// `GET /v1/meters/{meter}/log`.
package struct LogBody: Codable, Hashable, Sendable {
    /// Whether other hosts were queried for their parts of the log.
    package enum Others: String, Codable, Hashable, Sendable, CaseIterable {
        case unasked
        case none
        case asked
        case unreachable
    }

    package var meter: String
    /// Oldest first.
    package var log: [LogLineBody]
    /// Whether older lines were left out.
    package var cut: Bool
    package var others: Others
    /// Names of connected hosts that did not answer in time.
    package var silent: [String]
    /// Names of hosts that do not share their log.
    package var unshared: [String]
    @NullCodable package var error: String?

    package init(meter: String, log: [LogLineBody], cut: Bool = false, others: Others) {
        self.meter = meter
        self.log = log
        self.cut = cut
        self.others = others
        silent = []
        unshared = []
    }
}
