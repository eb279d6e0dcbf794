package import Domain

/// Event of a meter on this host, possibly repeated (Docs/Relay.md#the-meters-log). For logs that the meter itself
/// records, see `MeterLogs`.
package struct LogEntry: Hashable, Sendable {
    /// First occurrence, or the start of a `LogHolding`.
    package var first: LogMoment
    /// Last occurrence, or the end of a `LogHolding`. Equal to `first` while the holding continues.
    package var last: LogMoment
    /// At least 1.
    package var count: Int
    package var event: LogEvent

    package init(_ event: LogEvent, first: LogMoment, last: LogMoment? = nil, count: Int = 1) {
        self.event = event
        self.first = first
        self.last = last ?? first
        self.count = count
    }
}

package struct LogMoment: Hashable, Sendable {
    /// Wall-clock time, as the system clock was set at that moment.
    package var wall: WallTime
    /// Boot-time clock; nil for a moment before the machine's last start.
    package var sinceBoot: MonotonicTime?

    package init(wall: WallTime, sinceBoot: MonotonicTime?) {
        self.wall = wall
        self.sinceBoot = sinceBoot
    }

    package init(_ moment: HostMoment) { self.init(wall: moment.wall, sinceBoot: moment.sinceBoot) }

    /// Returns the age, never negative. Steps of the system clock change it only if the machine restarted since.
    package func age(at now: HostMoment) -> Duration {
        if let sinceBoot { return max(.zero, now.sinceBoot - sinceBoot) }
        let (age, overflow) = now.wall.millisecondsSince1970.subtractingReportingOverflow(wall.millisecondsSince1970)
        return .milliseconds(overflow ? 0 : max(0, age))
    }
}

/// Event in a meter's log; settings have their own history.
package enum LogEvent: Hashable, Sendable {
    case held(LogHolding)
    case state(ConnectionState, cause: String)
    /// `outcome` is "done", "sent" if the meter does not confirm the command, or the reason of the failure.
    case command(String, by: LogAuthor, outcome: String)
    /// Repair of the adapter that carries the meter's link or searches for the meter.
    case remedy(String, adapter: MACAddress, cause: String)
    /// Alert of this host (Docs/Alerts.md); `outcome` is "raised", "over" or "changed hands".
    case alert(String, outcome: String)

    /// Whether this is a command. Equal events before and after it have separate lines, to show their order.
    var isDeed: Bool { if case .command = self { true } else { false } }
}

/// A period in which this host had a meter. One entry may combine several short periods in a row.
package struct LogHolding: Hashable, Sendable {
    /// Reason for the end, as shown to users.
    package enum End: String, Hashable, Sendable, CaseIterable {
        case givenBack = "given back"
        /// End of a period without a lease, because a lease was granted.
        case leased = "its lease came"
        case revoked
        case takenOver = "taken over"
        case notRenewed = "not renewed in time"
        case unknown = "unknown to the cloud"
        case stopped = "meterd stopped"
    }

    /// Fencing token; nil for a period without a lease, while the cloud was unreachable.
    package var token: FencingToken?
    /// Fencing token of the last lease, if the entry combines several periods.
    package var lastToken: FencingToken?
    package var transport: LeaseTransport
    /// Nil while the period continues.
    package var end: End?

    package init(
        token: FencingToken?, lastToken: FencingToken? = nil, transport: LeaseTransport, end: End? = nil
    ) {
        self.token = token
        self.lastToken = lastToken ?? token
        self.transport = transport
        self.end = end
    }
}

package enum LogAuthor: Hashable, Sendable {
    /// User of this host, on the command line or the web page.
    case person
    case broker
    /// User of another host, through the relay.
    case host(HostID, name: String)
}
