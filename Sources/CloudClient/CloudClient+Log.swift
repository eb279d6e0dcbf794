package import CloudAPI
package import Domain
package import Gateway
import NIOCore
import NIOHTTP1

extension CloudClient: LogLink {
    package func parts(of meter: MeterID, within: Duration?) async throws(SyncFailure) -> LogParts {
        let query = within.map { "?within=\($0.milliseconds)" } ?? ""
        do throws(CallFailure) {
            let answer: RelayLogAnswer = try await attempt(
                .GET, zonePath("meters/\(meter.description.urlPart)/log\(query)"), body: Optional<String>.none,
                patience: .milliseconds(CloudLimits.logMilliseconds) + patience)
            return LogParts(answer)
        } catch {
            throw error.failure
        }
    }

    package func answer(_ question: LogQuestion, with part: LogPart) async throws(SyncFailure) {
        let path = zonePath("meters/\(question.meter.description.urlPart)/log/\(question.id.description.urlPart)")
        var body = RelayLogPart(part)
        body.copy = question.copy
        let _: Ignored = try await call(.POST, path, body: body)
    }
}

extension LogQuestion {
    /// Nil for an invalid id, such as a newer kind of meter id.
    package init?(_ body: EventBody.LogQuestion) {
        guard let id = RequestID(body.requestID), let meter = MeterID(body.meter) else { return nil }
        self.init(id: id, meter: meter, within: body.within.map { .milliseconds(max(0, $0)) }, copy: body.copy)
    }
}

extension RelayLogPart {
    package init(_ part: LogPart) {
        self.init(lines: part.lines.map { RelayLogLine($0) })
        cut = part.isCut ? true : nil
        shared = part.isShared ? nil : false
    }
}

extension RelayLogLine {
    package init(_ line: LogLine) {
        self.init(
            kind: line.kind.rawValue, age: line.age.milliseconds, lastAge: line.lastAge?.milliseconds,
            time: line.time.millisecondsSince1970, what: line.what)
        count = line.count == 1 ? nil : line.count
        (detail, by, byID, adapter) = (line.detail, line.by, line.byID, line.adapter)
        (token, lastToken) = (line.token, line.lastToken)
    }

    package var line: LogLine {
        var line = LogLine(
            .init(rawValue: kind), what, age: .milliseconds(max(0, age)),
            lastAge: lastAge.map { .milliseconds(max(0, $0)) },
            time: WallTime(millisecondsSince1970: time), count: max(1, count ?? 1), detail: detail)
        (line.by, line.byID, line.adapter) = (by, byID, adapter)
        (line.token, line.lastToken) = (token, lastToken)
        return line
    }
}

extension LogParts {
    /// Omits hosts with an invalid id.
    package init(_ answer: RelayLogAnswer) {
        self.init(silent: answer.silent)
        parts = answer.parts.compactMap { part in
            HostID(part.hostID).map { host in
                Part(
                    host: host, hostName: part.hostName,
                    part: LogPart(
                        lines: part.lines.map(\.line), isCut: part.cut ?? false, isShared: part.shared ?? true))
            }
        }
    }
}
