package import Domain

/// A line of a meter's log as it travels and as it is shown: with its age in place of the time, so that no clock is
/// compared with another host's.
package struct LogLine: Hashable, Sendable {
    /// What kind of thing happened. A later version may know more of them.
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
    /// How long ago it happened first.
    package var age: Duration
    /// How long ago it happened last, or ended; nil while it goes on.
    package var lastAge: Duration?
    /// When it happened first, by the calendar of its host as it was then.
    package var time: WallTime
    package var count: Int
    /// The link of a holding, a state, a setting's key, a command, a remedy, an alert, or a mark's name.
    package var what: String
    /// How a holding ended; the cause of a state or remedy; a setting's new value; what became of a command or an alert.
    package var detail: String?
    /// Who set, marked or commanded it: a host's name, or what else it was.
    package var by: String?
    /// That host's id.
    package var byID: String?
    /// The address of a remedy's adapter.
    package var adapter: String?
    /// Of the lease of a holding; nil without one.
    package var token: UInt64?
    /// Of the last lease, where several holdings are one line.
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
    /// - Parameter host: this host, at which a person commands something.
    init(_ entry: LogEntry, at now: HostMoment, host: LeaseKeeper.Identity) {
        let age = entry.first.age(at: now)
        // A calendar that stepped between them makes no line that ends before it begins.
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

    /// A setting is the same on every host, so it is told by none but the host that is asked.
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

    /// A mark, told by none but the host that is asked: it is the same on every host, or that host's own.
    init(_ entry: MarkEntry, at now: HostMoment) {
        let mark = entry.mark
        let age = LogMoment(wall: mark.start, sinceBoot: nil).age(at: now)
        let lastAge = mark.end.map { min(age, LogMoment(wall: $0, sinceBoot: nil).age(at: now)) }
        self.init(.mark, mark.name, age: age, lastAge: lastAge, time: mark.start)
        (by, byID) = (entry.hostName, mark.id.host.description)
    }

    /// Roughly the bytes that it takes on its way.
    var bytes: Int {
        [what, detail, by, byID, adapter].reduce(RelayTiming.logLineBytes) { $0 + ($1?.utf8.count ?? 0) }
    }
}
