import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Log of a meter's events: `/v1/meters/{meter}/log`. LogRoutes.swift serves the logs in the meter's own memory.
package struct MeterLogRoutes: RouteGroup {
    private let log: ZoneLog

    private static let linesUsual = 200
    /// Largest `limit` of a request. A host stores fewer lines for a meter, but the answer includes other hosts' lines.
    private static let linesMax = 10_000

    package init(log: ZoneLog) { self.log = log }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("meters/:meter/log") { request, context in
            let within = try request.number("within_ms", in: 0...Int(Int32.max) * 1000).map {
                Duration.milliseconds($0)
            }
            let report = try await log.report(
                of: try MeterRoutes.reference(in: context), since: try request.time("since"), within: within,
                limit: try request.number("limit", in: 1...Self.linesMax) ?? Self.linesUsual,
                asksOthers: try !request.flag("own"))
            return try JSON.response(LogBody(report, now: log.now().wall))
        }
    }
}

extension LogBody {
    fileprivate init(_ report: ZoneLog.Report, now: WallTime) {
        self.init(
            meter: report.meter.description, log: report.lines.map { LogLineBody($0, now: now) }, cut: report.isCut,
            others: .unasked)
        unshared = report.unshared
        switch report.others {
        case .unasked: break
        case .none: others = .none
        case .asked(let names): (others, silent) = (.asked, names)
        case .unreachable(let cause): (others, error) = (.unreachable, cause)
        }
    }
}

extension LogLineBody {
    fileprivate init(_ shown: ZoneLog.Report.Line, now: WallTime) {
        let line = shown.line
        self.init(
            kind: line.kind.rawValue, at: (now + (.zero - line.age)).description,
            until: line.lastAge.map { (now + (.zero - $0)).description }, age_ms: line.age.milliseconds,
            count: line.count, mine: shown.host?.isMine ?? false, host_time: line.time.description, what: line.what)
        (host, host_id) = (shown.host?.name, shown.host?.id.description)
        (detail, by, by_id, adapter) = (line.detail, line.by, line.byID, line.adapter)
        (token, last_token) = (line.token, line.lastToken)
    }
}
