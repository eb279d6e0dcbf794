package import Domain

/// A line of a meter's log: what happened to the meter on this host, once or several times (Docs/Relay.md#the-meters-log).
///
/// Not what a meter recorded by itself: those are its logs (`MeterLogs`).
package struct LogEntry: Hashable, Sendable {
    /// When it happened first; of a holding, when that began.
    package var first: LogMoment
    /// When it happened last; of a holding, when that ended, or began if it goes on.
    package var last: LogMoment
    /// How often it happened; at least 1.
    package var count: Int
    package var event: LogEvent

    package init(_ event: LogEvent, first: LogMoment, last: LogMoment? = nil, count: Int = 1) {
        self.event = event
        self.first = first
        self.last = last ?? first
        self.count = count
    }
}

/// When something happened on this host.
package struct LogMoment: Hashable, Sendable {
    /// By the calendar as it was then.
    package var wall: WallTime
    /// By the clock that no calendar moves; nil if that was before the machine's last start.
    package var sinceBoot: MonotonicTime?

    package init(wall: WallTime, sinceBoot: MonotonicTime?) {
        self.wall = wall
        self.sinceBoot = sinceBoot
    }

    package init(_ moment: HostMoment) { self.init(wall: moment.wall, sinceBoot: moment.sinceBoot) }

    /// How long ago it was, never negative: right after any step of the calendar, unless the machine was started since.
    package func age(at now: HostMoment) -> Duration {
        if let sinceBoot { return max(.zero, now.sinceBoot - sinceBoot) }
        let (age, overflow) = now.wall.millisecondsSince1970.subtractingReportingOverflow(wall.millisecondsSince1970)
        return .milliseconds(overflow ? 0 : max(0, age))
    }
}

/// What can happen to a meter. Settings are not among it: their history is a table of its own.
package enum LogEvent: Hashable, Sendable {
    /// This host had the meter.
    case held(LogHolding)
    /// It came into a state.
    case state(ConnectionState, cause: String)
    /// Somebody had it do something.
    ///
    /// - `outcome`: "done", or why it was not.
    case command(String, by: LogAuthor, outcome: String)
    /// Something was done about the adapter over which it is linked, or looked for.
    case remedy(String, adapter: MACAddress, cause: String)
    /// Something that somebody of this host wants to be told of (Docs/Alerts.md).
    ///
    /// - `outcome`: "raised", "over", or "changed hands".
    case alert(String, outcome: String)

    /// Whether a person's or program's deed is the event: nothing is folded past one, so that what came before it and what
    /// came after it stay apart.
    var isDeed: Bool { if case .command = self { true } else { false } }
}

/// That this host had a meter, or had it several times in a row.
package struct LogHolding: Hashable, Sendable {
    /// How it ended. The raw value is what people read.
    package enum End: String, Hashable, Sendable, CaseIterable {
        case givenBack = "given back"
        /// One without a lease, whose lease came.
        case leased = "its lease came"
        case revoked
        case takenOver = "taken over"
        case notRenewed = "not renewed in time"
        /// The cloud did not know the lease.
        case unknown = "unknown to the cloud"
        /// meterd ended without giving it back.
        case stopped = "meterd stopped"
    }

    /// Of its lease; nil without one, while the cloud could not be reached.
    package var token: FencingToken?
    /// Of the last lease, where several are folded.
    package var lastToken: FencingToken?
    package var transport: LeaseTransport
    /// Nil while it goes on.
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

/// Who commanded a meter.
package enum LogAuthor: Hashable, Sendable {
    /// Somebody at this host, on the command line or the page.
    case person
    /// Whoever publishes at the MQTT broker.
    case broker
    /// Somebody at another host, through the relay.
    case host(HostID, name: String)
}
