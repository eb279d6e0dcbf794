/// A line of what a host has of a meter's log: something that happened to the meter there, once or several times.
package struct RelayLogLine: Codable, Hashable, Sendable {
    /// `held`, `state`, `command` or `remedy`; the cloud passes on what its version does not know.
    package var kind: String
    /// Milliseconds since it happened first, when the part was sent.
    package var age: Int64
    /// Since it happened last, or ended; absent while it goes on.
    package var lastAge: Int64?
    /// When it happened first, by that host's calendar as it was then, in milliseconds since 1970. For people to read.
    package var time: Int64
    /// How often; absent for once.
    package var count: Int?
    /// The link of a holding, a state, a command, or a remedy.
    package var what: String
    /// How a holding ended; the cause of a state or remedy; what became of a command.
    package var detail: String?
    /// Who commanded it: the name of the host at which somebody did, or what else it was.
    package var by: String?
    /// That host's id.
    package var byID: String?
    /// The address of a remedy's adapter.
    package var adapter: String?
    /// Of the lease of a holding; absent without one.
    package var token: UInt64?
    /// Of the last lease, where several holdings are one line.
    package var lastToken: UInt64?

    package init(kind: String, age: Int64, lastAge: Int64?, time: Int64, what: String) {
        self.kind = kind
        self.age = age
        self.lastAge = lastAge
        self.time = time
        self.what = what
    }
}

/// `POST …/meters/{meter}/log/{request}`: what a host has of a meter's log. Answers: 200 `{}`, also where nobody waits for it
/// any more.
package struct RelayLogPart: Codable, Hashable, Sendable {
    /// As the event had it.
    package var copy: String?
    /// The newest that the host has, the oldest first.
    package var lines: [RelayLogLine]
    /// True where the host has more; absent otherwise.
    package var cut: Bool?
    /// False where the host keeps what it has to itself; absent otherwise.
    package var shared: Bool?

    package init(lines: [RelayLogLine]) { self.lines = lines }
}

/// The answer to `GET …/meters/{meter}/log`.
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
    /// Names of hosts that listen and did not answer in time.
    package var silent: [String]

    package init(parts: [Part], silent: [String]) {
        self.parts = parts
        self.silent = silent
    }
}

extension CloudLimits {
    /// How long the cloud waits for hosts' parts of a log; it looks once a second.
    package static let logMilliseconds: Int64 = 3_000
    /// Most lines of one host.
    package static let logLinesPerPart = 500
    /// Most bytes of them: the sum of their texts, and `logLineBytes` for each.
    package static let logPartBytes = 131_072
    package static let logLineBytes = 160
    /// Most bytes of each text of a line.
    package static let logTextBytes = 1024
}
