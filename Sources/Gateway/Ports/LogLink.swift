package import Domain

/// Queries of other hosts' logs. Every error is a `SyncFailure`.
package protocol LogLink: Sendable {
    /// Returns the logs of connected hosts that answer within some seconds.
    ///
    /// - Parameter within: maximum age of a line's end; nil returns all lines.
    func parts(of meter: MeterID, within: Duration?) async throws(SyncFailure) -> LogParts
    func answer(_ question: LogQuestion, with part: LogPart) async throws(SyncFailure)
}

package struct LogQuestion: Hashable, Sendable {
    package var id: RequestID
    package var meter: MeterID
    package var within: Duration?
    /// Replica of the cloud that collects the answers; nil if the cloud has only one.
    package var copy: String?

    package init(id: RequestID, meter: MeterID, within: Duration? = nil, copy: String? = nil) {
        self.id = id
        self.meter = meter
        self.within = within
        self.copy = copy
    }
}

package struct LogPart: Hashable, Sendable {
    /// Oldest first.
    package var lines: [LogLine]
    /// Whether older lines were omitted for lack of room.
    package var isCut: Bool
    package var isShared: Bool

    package init(lines: [LogLine], isCut: Bool = false, isShared: Bool = true) {
        self.lines = lines
        self.isCut = isCut
        self.isShared = isShared
    }
}

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
    /// Names of connected hosts that did not answer in time.
    package var silent: [String]

    package init(parts: [Part] = [], silent: [String] = []) {
        self.parts = parts
        self.silent = silent
    }
}
