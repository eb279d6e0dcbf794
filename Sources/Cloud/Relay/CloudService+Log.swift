package import CloudAPI
import Domain
import Logging

/// Requests for a meter's log. The cloud forwards the hosts' parts to the requesting host without storing them
/// (Docs/Relay.md#the-meters-log).
extension CloudService {
    /// Requests the parts of a meter's log from the zone's other hosts.
    ///
    /// - Parameter within: maximum age of a line in milliseconds, counted from the end of its event; nil for all lines.
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
        let elsewhere = ReplicaQuestionBody.Log(
            zone: zone, meter: standing.meter, hostID: member.host.description, within: within)
        async let others = parts(elsewhere)
        let own = try await logParts(of: standing.meter, within: within, in: zone, for: member.host)
        var (answer, areAllThere) = await others
        answer.add(own)
        return RelayLogAnswer(answer, areAllThere: areAllThere)
    }

    /// Returns the log parts of the hosts that listen to this replica.
    ///
    /// - Parameter asker: requesting host, which receives no request itself.
    /// - Throws: `rateLimited`, `serviceUnavailable`.
    func logParts(
        of meter: String, within: Int64?, in zone: String, for asker: HostID
    ) async throws(CloudFailure) -> LogAnswer {
        var hosts = hub.listeners(in: zone)
        hosts[asker] = nil
        let key = PendingKey(zone: zone, requestID: RequestID(high: nextRandom(), low: nextRandom()))
        var question = EventBody.LogQuestion(requestID: key.requestID.description, meter: meter, within: within)
        question.copy = post.isOpen ? copy.description : nil
        let request = PendingLogQuestion(asker: asker, hosts: hosts.mapValues { AskedHost(name: $0) })
        return try await logs.ask(key, request, now: clock.now) {
            for host in hosts.keys.sorted() { hub.tellLogQuestion(question, to: host, zone: zone) }
        }
    }

    private func parts(_ question: ReplicaQuestionBody.Log) async -> (LogAnswer, areAllThere: Bool) {
        await withTaskGroup(of: LogAnswer?.self) { group in
            for other in post.others {
                group.addTask {
                    do throws(CloudFailure) {
                        return try await self.ask(other) { $0.log = question }.log.map { LogAnswer($0) }
                    } catch {
                        self.logger.info(
                            "log query to replica failed",
                            metadata: ["copy": "\(other)", "cause": "\(error.message)"])
                        return nil
                    }
                }
            }
            var (all, areAllThere) = (LogAnswer(), true)
            for await answer in group {
                if let answer { all.add(answer) } else { areAllThere = false }
            }
            return (all, areAllThere)
        }
    }

    // MARK: Answers of hosts

    /// Accepts a host's part of a log, for this replica or for the one that requested it.
    ///
    /// - Throws: `badRequest` or `limitExceeded` for an invalid or too large part; `rateLimited` if there is no room,
    ///   or the requesting replica cannot be reached.
    package func answerLog(
        _ part: RelayLogPart, _ requestID: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) {
        let member = try member(principal, of: zone)
        let key = PendingKey(zone: zone, requestID: try Self.request(requestID))
        guard let other = elsewhere(part.copy, isHere: logs.request(key) != nil) else {
            return try answerLog(part, key, by: member)
        }
        _ = try part.checkedBytes()
        let forwarded = ReplicaQuestionBody.LogPart(
            zone: zone, requestID: requestID, hostID: member.host.description, hostName: member.name, part: part)
        try await ask(other) { $0.logPart = forwarded }
    }

    private func answerLog(_ part: RelayLogPart, _ key: PendingKey, by member: Member) throws(CloudFailure) {
        let bytes = try part.checkedBytes()
        var said = RelayLogAnswer.Part(hostID: member.host.description, hostName: member.name, lines: part.lines)
        (said.cut, said.shared) = (part.cut, part.shared)
        let isNews = try logs.answer(key, by: member.host, said, bytes: bytes)
        if !isNews {
            logger.debug("log answer ignored: no request is waiting for it", metadata: ["question": "\(key.requestID)"])
        }
    }

    // MARK: Requests of other replicas

    /// Answers a question about a log; nil for any other question.
    func answerLog(_ question: ReplicaQuestionBody) async throws(CloudFailure) -> ReplicaAnswerBody? {
        if let log = question.log {
            guard let asker = HostID(log.hostID) else { throw CloudFailure(.badRequest, "the log query names no host") }
            let answer = try await logParts(of: log.meter, within: log.within, in: log.zone, for: asker)
            return ReplicaAnswerBody(log: ReplicaAnswerBody.Log(answer))
        }
        guard let forwarded = question.logPart else { return nil }
        guard let host = HostID(forwarded.hostID) else { throw CloudFailure(.badRequest, "the log part names no host") }
        let key = PendingKey(zone: forwarded.zone, requestID: try Self.request(forwarded.requestID))
        try answerLog(forwarded.part, key, by: Member(host: host, name: forwarded.hostName, credential: ""))
        return ReplicaAnswerBody()
    }
}

extension LogAnswer {
    fileprivate init(_ said: ReplicaAnswerBody.Log) {
        for part in said.parts {
            if let host = HostID(part.hostID) { parts[host] = part }
        }
        for host in said.silent {
            if let id = HostID(host.hostID) { silent[id] = host.hostName }
        }
    }
}

extension ReplicaAnswerBody.Log {
    /// Omits log parts beyond `CloudLimits.copyLogBytes`, and lists their hosts as not answering.
    fileprivate init(_ answer: LogAnswer) {
        self.init(
            parts: [],
            silent: answer.silent.sorted { $0.key < $1.key }.map {
                Host(hostID: $0.key.description, hostName: $0.value)
            })
        var bytes = 0
        for (host, part) in answer.parts.sorted(by: { $0.key < $1.key }) {
            bytes += part.lines.reduce(0) { $0 + $1.bytes }
            if bytes <= CloudLimits.copyLogBytes {
                parts.append(part)
            } else {
                silent.append(Host(hostID: host.description, hostName: part.hostName))
            }
        }
    }
}

extension RelayLogAnswer {
    static let unknownHosts = "hosts at another copy of the cloud"

    fileprivate init(_ answer: LogAnswer, areAllThere: Bool) {
        self.init(
            parts: answer.parts.sorted { $0.key < $1.key }.map(\.value),
            silent: answer.silent.values.sorted() + (areAllThere ? [] : [Self.unknownHosts]))
    }
}

extension RelayLogPart {
    /// Returns the part's size in bytes; throws if it is larger than a host sends, or has impossible values.
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
            throw CloudFailure(.badRequest, "an age of \(min(age, lastAge ?? age)) ms is negative; send 0 or more")
        }
        guard count ?? 1 >= 1 else {
            throw CloudFailure(.badRequest, "a count of \(count ?? 0) is not positive; send 1 or more")
        }
        for text in texts where text.utf8.count > CloudLimits.logTextBytes {
            throw CloudFailure(
                .limitExceeded,
                "\(text.utf8.count) bytes are too many for a line of a log; a text has at most "
                    + "\(CloudLimits.logTextBytes)")
        }
        return bytes
    }

    fileprivate var bytes: Int { texts.reduce(CloudLimits.logLineBytes) { $0 + $1.utf8.count } }

    private var texts: [String] { [kind, what, detail, by, byID, adapter].compactMap(\.self) }
}
