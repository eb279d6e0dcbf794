package import Domain

/// Event of a meter on this host, once or several times (Docs/Relay.md#the-meters-log). Not a log of the meter itself
/// (`MeterLogs`).
package struct LogEntry: Hashable, Sendable {
    /// First occurrence, or start of a holding.
    package var first: LogMoment
    /// Last occurrence; of a holding the end or, while it goes on, the start.
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
    /// By the calendar at that time.
    package var wall: WallTime
    /// By the monotonic clock; nil if before the machine's last start.
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
    /// Repair of the adapter over which the meter is linked or searched for.
    case remedy(String, adapter: MACAddress, cause: String)
    /// Alert of this host (Docs/Alerts.md); `outcome` is "raised", "over" or "changed hands".
    case alert(String, outcome: String)

    /// Whether it is a command. Nothing folds past one, so that events before and after stay apart.
    var isDeed: Bool { if case .command = self { true } else { false } }
}

/// Period in which this host held a meter, or several in a row.
package struct LogHolding: Hashable, Sendable {
    /// Raw values are shown to people.
    package enum End: String, Hashable, Sendable, CaseIterable {
        case givenBack = "given back"
        /// Holding without a lease, which then got one.
        case leased = "its lease came"
        case revoked
        case takenOver = "taken over"
        case notRenewed = "not renewed in time"
        case unknown = "unknown to the cloud"
        case stopped = "meterd stopped"
    }

    /// Nil without a lease, while the cloud was unreachable.
    package var token: FencingToken?
    /// Token of the last lease if holdings are folded.
    package var lastToken: FencingToken?
    package var transport: LeaseTransport
    /// Nil while the holding goes on.
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
    /// At this host, on the command line or the page.
    case person
    case broker
    /// At another host, through the relay.
    case host(HostID, name: String)
}
