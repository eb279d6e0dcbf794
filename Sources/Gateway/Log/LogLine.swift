package import Domain

/// Line of a meter's log, for other hosts and for display. Contains ages, because the system clocks of hosts may
/// differ.
package struct LogLine: Hashable, Sendable {
    /// Hosts with a later version may send unknown kinds.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        package static let held = Kind(rawValue: "held")
        package static let state = Kind(rawValue: "state")
        package static let setting = Kind(rawValue: "setting")
        package static let command = Kind(rawValue: "command")
        package static let remedy = Kind(rawValue: "remedy")
        package static let alert = Kind(rawValue: "alert")
        package static let mark = Kind(rawValue: "mark")
    }

    package var kind: Kind
    package var age: Duration
    /// Age of the last occurrence, or of the end of a `LogHolding`; nil while it continues.
    package var lastAge: Duration?
    /// Time of the first occurrence by the logging host's system clock.
    package var time: WallTime
    package var count: Int
    /// Depends on `kind`: the kind of link (for a `LogHolding`), the connection state, the setting's key, the command,
    /// the repair, the alert, or the mark's name.
    package var what: String
    /// Depends on `kind`: the end of a `LogHolding`, the cause of a connection state or repair, the value of a setting,
    /// or the outcome of a command or alert.
    package var detail: String?
    /// Author of a setting, mark or command: a host's name, or for example "MQTT".
    package var by: String?
    package var byID: String?
    package var adapter: String?
    /// Fencing token of a `LogHolding`; nil without a lease and for other kinds.
    package var token: UInt64?
    /// Fencing token of the last lease, if the line combines several `LogHolding` periods.
    package var lastToken: UInt64?

    package init(
        _ kind: Kind, _ what: String, age: Duration, lastAge: Duration?, time: WallTime, count: Int = 1,
        detail: String? = nil
    ) {
        self.kind = kind
        self.what = what
        self.age = age
        self.lastAge = lastAge
        self.time = time
        self.count = count
        self.detail = detail
    }
}

extension LogLine {
    init(_ entry: LogEntry, at now: HostMoment, host: LeaseKeeper.Identity) {
        let age = entry.first.age(at: now)
        // After a step of the system clock, the line must not end before its start.
        let lastAge = min(age, entry.last.age(at: now))
        func line(_ kind: Kind, _ what: String, _ detail: String?) -> LogLine {
            LogLine(
                kind, what, age: age, lastAge: entry.isOpen ? nil : lastAge, time: entry.first.wall, count: entry.count,
                detail: detail)
        }
        switch entry.event {
        case .held(let holding):
            self = line(.held, holding.transport.rawValue, holding.end?.rawValue)
            token = holding.token?.rawValue
            lastToken = holding.lastToken?.rawValue
        case .state(let state, let cause): self = line(.state, state.rawValue, cause)
        case .command(let command, let author, let outcome):
            self = line(.command, command, outcome)
            switch author {
            case .person: (by, byID) = (host.hostName, host.host.description)
            case .broker: by = "MQTT"
            case .host(let id, let name): (by, byID) = (name, id.description)
            }
        case .remedy(let remedy, let address, let cause):
            self = line(.remedy, remedy, cause)
            adapter = address.description
        case .alert(let title, let outcome): self = line(.alert, title, outcome)
        }
    }

    /// Line of a setting. Only the host that makes the report adds these, because all hosts have them.
    init(_ write: SettingWrite, at now: HostMoment) {
        let author = write.author
        let age = LogMoment(wall: author.at, sinceBoot: nil).age(at: now)
        self.init(
            .setting, write.key ?? "all settings", age: age, lastAge: age, time: author.at,
            detail: write.key == nil ? "deleted" : write.value ?? "default")
        let name = author.hostName ?? author.host?.description ?? "clean-up"
        by = (author.bringerName ?? author.bringer?.description).map { "\(name), brought by \($0)" } ?? name
        byID = author.host?.description
    }

    /// Line of a mark. Only the host that makes the report adds these: shared marks are on every host, and local marks
    /// are its own.
    init(_ entry: MarkEntry, at now: HostMoment) {
        let mark = entry.mark
        let age = LogMoment(wall: mark.start, sinceBoot: nil).age(at: now)
        let lastAge = mark.end.map { min(age, LogMoment(wall: $0, sinceBoot: nil).age(at: now)) }
        self.init(.mark, mark.name, age: age, lastAge: lastAge, time: mark.start)
        (by, byID) = (entry.hostName, mark.id.host.description)
    }

    /// Approximate encoded size.
    var bytes: Int {
        [what, detail, by, byID, adapter].reduce(RelayTiming.logLineBytes) { $0 + ($1?.utf8.count ?? 0) }
    }
}
