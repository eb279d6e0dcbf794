package import Domain
import GatewayAPI

/// A meter's log for users, combined from the logs of all hosts, settings and marks (Docs/Relay.md#the-meters-log).
package struct ZoneLog: Sendable {
    package struct Report: Sendable {
        package struct Line: Sendable {
            package var line: LogLine
            /// Nil for a setting or a mark.
            package var host: Host?
        }

        package struct Host: Hashable, Sendable {
            package var name: String
            package var id: HostID
            package var isMine: Bool
        }

        package var meter: MeterID
        /// Oldest first.
        package var lines: [Line]
        package var isCut: Bool
        package var others: Others
        /// Names of hosts that do not share their logs.
        package var unshared: [String]
    }

    /// Result of the query for other hosts' logs.
    package enum Others: Hashable, Sendable {
        case unasked
        /// This host belongs to no cloud.
        case none
        /// `silent`: names of connected hosts that did not answer the query.
        case asked(silent: [String])
        case unreachable(String)
    }

    private let keeper: LogKeeper
    private let directory: MeterDirectory
    private let settings: SettingsService
    private let marks: MarkService?
    private let host: LeaseKeeper.Identity
    private let shares: Bool
    private let link: @Sendable () async -> (any LogLink)?
    package let now: @Sendable () -> HostMoment

    /// - Parameter shares: whether other hosts may see this host's log.
    package init(
        keeper: LogKeeper, directory: MeterDirectory, settings: SettingsService, marks: MarkService? = nil,
        host: LeaseKeeper.Identity, shares: Bool = true, link: @escaping @Sendable () async -> (any LogLink)? = { nil },
        now: @escaping @Sendable () -> HostMoment
    ) {
        self.keeper = keeper
        self.directory = directory
        self.settings = settings
        self.marks = marks
        self.host = host
        self.shares = shares
        self.link = link
        self.now = now
    }

    /// - Parameters:
    ///   - since: omits lines that ended earlier.
    ///   - within: omits lines that ended longer ago.
    ///   - limit: at least 1; the newest lines are kept.
    ///   - asksOthers: a silent host delays the report by some seconds.
    /// - Throws: `noSuchMeter`, `ambiguousMeter`; errors of the store.
    package func report(
        of reference: String, since: WallTime? = nil, within: Duration? = nil, limit: Int, asksOthers: Bool = true
    ) async throws(GatewayError) -> Report {
        let meter = try await directory.wanted(reference)
        let reach = Self.reach(since: since, within: within, at: now())
        let others = asksOthers ? await ask(meter, reach) : (Others.unasked, [])
        var report = Report(meter: meter, lines: [], isCut: false, others: others.0, unshared: [])
        let mine = Report.Host(name: host.hostName, id: host.host, isMine: true)
        report.lines = try await own(meter).map { Report.Line(line: $0, host: mine) }
        let present = now()
        report.lines += try await settings.writes(of: meter).map { Report.Line(line: LogLine($0, at: present)) }
        let marked = try await marks?.marks(of: await directory.ids(of: meter)) ?? []
        report.lines += marked.map { Report.Line(line: LogLine($0, at: present)) }
        for part in others.1 {
            guard part.part.isShared else {
                report.unshared.append(part.hostName)
                continue
            }
            let host = Report.Host(name: part.hostName, id: part.host, isMine: false)
            report.lines += part.part.lines.map { Report.Line(line: $0, host: host) }
            if part.part.isCut { report.isCut = true }
        }
        report.unshared.sort()
        report.lines = Self.sorted(report.lines.filter { $0.line.isWithin(reach) })
        if report.lines.count > limit {
            report.isCut = true
            report.lines.removeFirst(report.lines.count - limit)
        }
        return report
    }

    /// Returns this host's log of a meter for another host.
    package func part(for question: LogQuestion) async throws(GatewayError) -> LogPart {
        guard shares else { return LogPart(lines: [], isShared: false) }
        let lines = try await own(await directory.canonical(question.meter)).filter { $0.isWithin(question.within) }
        var part = LogPart(lines: [])
        var bytes = 0
        for line in lines.reversed() {
            bytes += line.bytes
            guard part.lines.count < RelayTiming.logLinesMax, bytes <= RelayTiming.logBytesMax else {
                part.isCut = true
                break
            }
            part.lines.append(line)
        }
        part.lines.reverse()
        return part
    }

    private func own(_ meter: MeterID) async throws(GatewayError) -> [LogLine] {
        let entries = try await keeper.entries(of: await directory.ids(of: meter))
        let present = now()
        return entries.map { LogLine($0, at: present, host: host) }
    }

    private func ask(_ meter: MeterID, _ within: Duration?) async -> (Others, [LogParts.Part]) {
        guard let link = await link() else { return (.none, []) }
        do throws(SyncFailure) {
            let parts = try await link.parts(of: meter, within: within)
            return (.asked(silent: parts.silent), parts.parts)
        } catch {
            return (.unreachable(error.message), [])
        }
    }

    /// Returns the maximum age of a line's end; nil without a limit.
    private static func reach(since: WallTime?, within: Duration?, at now: HostMoment) -> Duration? {
        let past = since.map { LogMoment(wall: $0, sinceBoot: nil).age(at: now) }
        return [past, within].compactMap(\.self).min()
    }

    /// Sorts lines, oldest first; lines of equal age keep their order.
    private static func sorted(_ lines: [Report.Line]) -> [Report.Line] {
        lines.enumerated().sorted { one, other in
            (other.element.line.age, one.offset) < (one.element.line.age, other.offset)
        }.map(\.element)
    }
}

extension LogLine {
    fileprivate func isWithin(_ reach: Duration?) -> Bool {
        guard let reach, let lastAge else { return true }
        return lastAge <= reach
    }
}
