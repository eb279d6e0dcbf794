/// A line of a meter's log in `GET /v1/meters/{meter}/log`: something that happened to it, once or several times. Unknown
/// or not applicable is null.
///
/// What a meter recorded by itself is in `GET /v1/meters/{meter}/logs` (`MeterLogBody`).
package struct LogLineBody: Codable, Hashable, Sendable {
    /// `held`, `state`, `setting`, `command`, `remedy` or `alert`; a later version may have more.
    package var kind: String
    /// When it happened first, RFC 3339, by the calendar of the host that answers.
    package var at: String
    /// When it happened last, or ended; null while it goes on.
    @NullCodable package var until: String?
    /// How long ago it happened first.
    package var age_ms: Int64
    package var count: Int
    /// The name and id of the host where it happened; null for a setting, which is every host's.
    @NullCodable package var host: String?
    @NullCodable package var host_id: String?
    /// It happened here.
    package var mine: Bool
    /// When it happened first, by the calendar of its host as it was then.
    package var host_time: String
    /// The link of a holding (`ble`, `spp`, `usb`), a state, a setting's key, a command, a remedy, or an alert.
    package var what: String
    /// How a holding ended; the cause of a state or remedy; a setting's new value; what became of a command or an alert.
    @NullCodable package var detail: String?
    /// The host at which it was set or commanded, or `MQTT`; null for what nobody did.
    @NullCodable package var by: String?
    @NullCodable package var by_id: String?
    /// The address of a remedy's adapter.
    @NullCodable package var adapter: String?
    /// Of the lease of a holding; null without one.
    @NullCodable package var token: UInt64?
    /// Of the last lease, where several holdings are one line.
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
    /// Whether other hosts were asked for what they have of it.
    package enum Others: String, Codable, Hashable, Sendable, CaseIterable {
        /// The request did not want it.
        case unasked
        /// This host belongs to no cloud.
        case none
        case asked
        /// The cloud could not be asked; `error` says why.
        case unreachable
    }

    package var meter: String
    /// The oldest first.
    package var log: [LogLineBody]
    /// There are older lines.
    package var cut: Bool
    package var others: Others
    /// Names of hosts that listen and did not answer in time.
    package var silent: [String]
    /// Names of hosts that share nothing of what they have.
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
