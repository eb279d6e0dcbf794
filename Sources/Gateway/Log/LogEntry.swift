package import Domain

/// Event of a meter on this host, which may have occurred several times (Docs/Relay.md#the-meters-log). For logs that
/// the meter itself records, see `MeterLogs`.
package struct LogEntry: Hashable, Sendable {
    /// First occurrence; of a holding (`LogHolding`), its start.
    package var first: LogMoment
    /// Last occurrence; of a holding, its end. While a holding continues, equal to `first`.
    package var last: LogMoment
    /// Number of occurrences, at least 1.
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
    /// Time by the calendar as it was set at that time.
    package var wall: WallTime
    /// Time by the monotonic clock; nil for a moment before the machine's last start.
    package var sinceBoot: MonotonicTime?

    package init(wall: WallTime, sinceBoot: MonotonicTime?) {
        self.wall = wall
        self.sinceBoot = sinceBoot
    }

    package init(_ moment: HostMoment) { self.init(wall: moment.wall, sinceBoot: moment.sinceBoot) }

    /// Returns the age, never negative. Calendar steps change it only if the machine restarted since.
    package func age(at now: HostMoment) -> Duration {
        if let sinceBoot { return max(.zero, now.sinceBoot - sinceBoot) }
        let (age, overflow) = now.wall.millisecondsSince1970.subtractingReportingOverflow(wall.millisecondsSince1970)
        return .milliseconds(overflow ? 0 : max(0, age))
    }
}

/// Event of a meter; settings have their own history.
package enum LogEvent: Hashable, Sendable {
    case held(LogHolding)
    case state(ConnectionState, cause: String)
    /// `outcome` is "done" or the reason of the failure.
    case command(String, by: LogAuthor, outcome: String)
    /// Repair of the adapter that carries the meter's link or searches for the meter.
    case remedy(String, adapter: MACAddress, cause: String)
    /// Alert of this host (Docs/Alerts.md); `outcome` is "raised", "over" or "changed hands".
    case alert(String, outcome: String)

    /// Whether the event is a command. Equal events before and after a command are not counted in one line, so that
    /// their order remains visible.
    var isDeed: Bool { if case .command = self { true } else { false } }
}

/// Holding: a period in which this host held a meter. One entry may combine several short periods in a row.
package struct LogHolding: Hashable, Sendable {
    /// Raw values are shown to people.
    package enum End: String, Hashable, Sendable, CaseIterable {
        case givenBack = "given back"
        /// End of a holding without a lease, because a lease was granted.
        case leased = "its lease came"
        case revoked
        case takenOver = "taken over"
        case notRenewed = "not renewed in time"
        case unknown = "unknown to the cloud"
        case stopped = "meterd stopped"
    }

    /// Fencing token of the lease; nil for a holding without a lease, while the cloud was unreachable.
    package var token: FencingToken?
    /// Fencing token of the last lease, if the entry combines several periods.
    package var lastToken: FencingToken?
    package var transport: LeaseTransport
    /// End of the holding; nil while it continues.
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
