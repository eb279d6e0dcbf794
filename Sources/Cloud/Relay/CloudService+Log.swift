package import CloudAPI
import LeaseCore
import Logging
package import MeterModel

/// What hosts have of meters' logs, on its way to one that asks (Docs/Relay.md#the-meters-log). Nothing of it is stored.
extension CloudService {
    /// Asks the zone's other hosts for their parts of a meter's log.
    ///
    /// - Parameter within: no lines that ended longer ago, in milliseconds; nil for all.
    /// - Throws: `badRequest`, `rateLimited`.
    package func log(
        of meter: String, within: Int64?, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> RelayLogAnswer {
        let member = try member(principal, of: zone)
        let asked = try Self.meter(meter)
        if let within, within < 0 {
            throw CloudFailure(.badRequest, "\(within) ms is not a length of time; within is 0 or more")
        }
        _ = try await existing(zone)
        let standing = try await ask { try await engine.standing(of: asked, in: zone) }
        return try await logParts(of: standing.meter, within: within, in: zone, for: member.host)
    }

    /// The parts of the hosts that listen to this copy of the cloud: also what another copy asks this one for.
    ///
    /// - Parameter asker: the host that asks, which is not asked itself.
    /// - Throws: `rateLimited`, `serviceUnavailable`.
    package func logParts(
        of meter: String, within: Int64?, in zone: String, for asker: HostID
    ) async throws(CloudFailure) -> RelayLogAnswer {
        var hosts = hub.listeners(in: zone)
        hosts[asker] = nil
        let key = LogLedger.Key(zone: zone, requestID: RequestID(high: nextRandom(), low: nextRandom()))
        try logs.ask(key, by: asker, of: hosts, at: clock.now())
        let question = EventBody.LogQuestion(requestID: key.requestID.description, meter: meter, within: within)
        for host in hosts.keys.sorted() { hub.tellLogQuestion(question, to: host, zone: zone) }
        guard let answer = await logs.answer(to: key) else {
            throw CloudFailure(.serviceUnavailable, "nobody waits for the answer any more")
        }
        return answer
    }

    /// A host says what it has.
    ///
    /// - Throws: `badRequest` and `limitExceeded` for a part that no host sends; `rateLimited` where there is no room for it.
    package func answerLog(
        _ part: RelayLogPart, _ requestID: String, in zone: String, by principal: Principal
    ) throws(CloudFailure) {
        let member = try member(principal, of: zone)
        guard let id = RequestID(requestID) else {
            throw CloudFailure(.badRequest, "\"\(requestID.prefix(64))\" is not a UUID, which a question's id is")
        }
        let bytes = try part.checkedBytes()
        var answer = RelayLogAnswer.Part(
            hostID: member.host.description, hostName: member.name, lines: part.lines)
        (answer.cut, answer.shared) = (part.cut, part.shared)
        let key = LogLedger.Key(zone: zone, requestID: id)
        let isNews = try logs.answer(key, by: member.host, answer, bytes: bytes, at: clock.now())
        if !isNews { logger.debug("a part of a log for which nobody waits", metadata: ["question": "\(id)"]) }
    }
}

extension RelayLogPart {
    /// The bytes that it takes.
    ///
    /// - Throws: if it is larger than what a host sends, or says what cannot be.
    fileprivate func checkedBytes() throws(CloudFailure) -> Int {
        guard lines.count <= CloudLimits.logLinesPerPart else {
            throw CloudFailure(
                .limitExceeded,
                "\(lines.count) lines are too many for one part of a log; send the newest \(CloudLimits.logLinesPerPart)"
            )
        }
        guard copy?.utf8.count ?? 0 <= CloudLimits.actionTextBytes else {
            throw CloudFailure(
                .limitExceeded, "\(copy?.utf8.count ?? 0) bytes are too many for the name of a copy")
        }
        var bytes = 0
        for line in lines { bytes += try line.checkedBytes() }
        guard bytes <= CloudLimits.logPartBytes else {
            throw CloudFailure(
                .limitExceeded, "\(bytes) bytes are too many for one part of a log; send \(CloudLimits.logPartBytes)")
        }
        return bytes
    }
}

extension RelayLogLine {
    fileprivate func checkedBytes() throws(CloudFailure) -> Int {
        guard age >= 0, lastAge ?? 0 >= 0 else {
            throw CloudFailure(.badRequest, "an age of \(min(age, lastAge ?? age)) ms cannot be: it is 0 or more")
        }
        guard count ?? 1 >= 1 else {
            throw CloudFailure(.badRequest, "something cannot have happened \(count ?? 0) times")
        }
        var bytes = CloudLimits.logLineBytes
        for text in [kind, what, detail, by, byID, adapter].compactMap(\.self) {
            guard text.utf8.count <= CloudLimits.logTextBytes else {
                throw CloudFailure(
                    .limitExceeded,
                    "\(text.utf8.count) bytes are too many for a line of a log; a text has at most "
                        + "\(CloudLimits.logTextBytes)")
            }
            bytes += text.utf8.count
        }
        return bytes
    }
}
