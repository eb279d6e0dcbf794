package import Domain

/// The cloud as meters' logs use it: it asks the zone's other hosts for their parts. Every error is a `SyncFailure`.
package protocol LogLink: Sendable {
    /// The parts that other hosts have of a meter's log: those of the hosts that listen and answer within some seconds.
    ///
    /// - Parameter within: no lines that ended longer ago; nil for all.
    func parts(of meter: MeterID, within: Duration?) async throws(SyncFailure) -> LogParts
    /// Answers another host's question with this host's part.
    func answer(_ question: LogQuestion, with part: LogPart) async throws(SyncFailure)
}

/// A question of another host, passed on by the cloud.
package struct LogQuestion: Hashable, Sendable {
    package var id: RequestID
    package var meter: MeterID
    package var within: Duration?
    /// The copy of the cloud that collects the answers; nil where there is only one.
    package var copy: String?

    package init(id: RequestID, meter: MeterID, within: Duration? = nil, copy: String? = nil) {
        self.id = id
        self.meter = meter
        self.within = within
        self.copy = copy
    }
}

/// What one host has of a meter's log.
package struct LogPart: Hashable, Sendable {
    /// The oldest first.
    package var lines: [LogLine]
    /// There are older lines, for which there was no room.
    package var isCut: Bool
    /// False where the host keeps what it knows to itself.
    package var isShared: Bool

    package init(lines: [LogLine], isCut: Bool = false, isShared: Bool = true) {
        self.lines = lines
        self.isCut = isCut
        self.isShared = isShared
    }
}

/// What other hosts have of a meter's log.
package struct LogParts: Hashable, Sendable {
    package struct Part: Hashable, Sendable {
        package var host: HostID
        package var hostName: String
        package var part: LogPart

        package init(host: HostID, hostName: String, part: LogPart) {
            self.host = host
            self.hostName = hostName
            self.part = part
        }
    }

    package var parts: [Part]
    /// Names of hosts that listen and did not answer in time.
    package var silent: [String]

    package init(parts: [Part] = [], silent: [String] = []) {
        self.parts = parts
        self.silent = silent
    }
}
