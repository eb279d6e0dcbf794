/// An event in a meter's log on one host, which occurred once or several times.
package struct RelayLogLine: Codable, Hashable, Sendable {
    /// `held`, `state`, `command` or `remedy`; the cloud also passes on unknown kinds.
    package var kind: String
    /// Milliseconds from the first occurrence to the sending of this line.
    package var age: Int64
    /// Milliseconds from the last occurrence, or the event's end, to the sending of this line; absent during the event.
    package var lastAge: Int64?
    /// First occurrence by the host's system clock, in milliseconds since 1970; only for display.
    package var time: Int64
    /// Number of occurrences; absent for one.
    package var count: Int?
    /// A state, a command, a remedy or, for `held`, the link to the meter.
    package var what: String
    /// Cause of a state or remedy, outcome of a command or, for `held`, why the host gave the meter up.
    package var detail: String?
    /// Origin of a command: a host's name or another source.
    package var by: String?
    package var byID: String?
    package var adapter: String?
    /// For `held`: fencing token of the host's lease; absent without a lease.
    package var token: UInt64?
    /// For `held`: fencing token of the last lease, if the line combines several.
    package var lastToken: UInt64?

    package init(kind: String, age: Int64, lastAge: Int64?, time: Int64, what: String) {
        self.kind = kind
        self.age = age
        self.lastAge = lastAge
        self.time = time
        self.what = what
    }
}

/// `POST …/meters/{meter}/log/{request}`. Always answers 200 `{}`, even if no caller waits.
package struct RelayLogPart: Codable, Hashable, Sendable {
    package var copy: String?
    /// The newest lines, in chronological order.
    package var lines: [RelayLogLine]
    /// True if the host has more lines; absent otherwise.
    package var cut: Bool?
    /// False if the host shares no log; absent otherwise.
    package var shared: Bool?

    package init(lines: [RelayLogLine]) { self.lines = lines }
}

/// Answer to `GET …/meters/{meter}/log`.
package struct RelayLogAnswer: Codable, Hashable, Sendable {
    package struct Part: Codable, Hashable, Sendable {
        package var hostID: String
        package var hostName: String
        package var lines: [RelayLogLine]
        package var cut: Bool?
        package var shared: Bool?

        package init(hostID: String, hostName: String, lines: [RelayLogLine]) {
            self.hostID = hostID
            self.hostName = hostName
            self.lines = lines
        }
    }

    package var parts: [Part]
    /// Names of connected hosts that did not answer in time.
    package var silent: [String]

    package init(parts: [Part], silent: [String]) {
        self.parts = parts
        self.silent = silent
    }
}

extension CloudLimits {
    /// Timeout of a request for a log, checked once a second, so an answer may take a second longer.
    package static let logMilliseconds: Int64 = 3_000
    package static let logLinesPerPart = 500
    /// Maximum size of one host's lines: their texts in bytes, plus `logLineBytes` per line.
    package static let logPartBytes = 131_072
    package static let logLineBytes = 160
    /// Maximum length of each text of a line in bytes.
    package static let logTextBytes = 1024
}
