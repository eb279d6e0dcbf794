package import CloudAPI
import LeaseCore
import Logging
import MeterModel

/// Commands for a meter that another host has (Docs/Relay.md#commands). None is stored.
extension CloudService {
    /// Passes a command on to the host that has the meter, and waits for what becomes of it.
    ///
    /// - Throws: `leaseLost` with the present lease if the token is not its, `badRequest`, `rateLimited`.
    package func command(
        _ request: RelayCommandRequest, of meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> RelayCommandAnswer {
        let member = try member(principal, of: zone)
        let key = PendingKey(zone: zone, requestID: try Self.request(request.requestID))
        try Self.check(
            [request.action.kind, request.action.command, request.action.name], CloudLimits.actionTextBytes, "a command"
        )
        let asked = try Self.meter(meter)
        let known = try await existing(zone)
        let standing = try await ask { try await engine.standing(of: asked, in: zone) }
        guard let lease = standing.record, let holder = lease.holder, lease.token.rawValue == request.token else {
            throw lost(standing.record, of: standing.meter, in: known)
        }
        let order = PendingCommand(
            meter: standing.meter, token: request.token, holder: holder.host, holderName: holder.hostName,
            author: member.host, authorName: member.name, action: request.action)
        return try await commands.ask(key, order, now: clock.now) { tell(order, key) }
    }

    /// The holder is about to do it.
    ///
    /// - Throws: `leaseLost` or `notFound` where it must not be done.
    package func claim(
        _ request: RelayClaimRequest, _ requestID: String, of meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) {
        let member = try member(principal, of: zone)
        let key = PendingKey(zone: zone, requestID: try Self.request(requestID))
        try Self.check([request.copy], CloudLimits.actionTextBytes, "the name of a copy")
        guard let other = elsewhere(request.copy, isHere: commands.request(key) != nil) else {
            return try await claim(request, key, of: meter, by: member)
        }
        let claim = CopyQuestionBody.Claim(
            zone: zone, meter: meter, requestID: requestID, hostID: member.host.description, hostName: member.name,
            request: request)
        try await ask(other) { $0.claim = claim }
    }

    /// Decides it here.
    func claim(
        _ request: RelayClaimRequest, _ key: PendingKey, of meter: String, by member: Member
    ) async throws(CloudFailure) {
        let session = try Self.session(request.session)
        let asked = try Self.meter(meter)
        let standing = try await ask { try await engine.standing(of: asked, in: key.zone) }
        guard standing.record?.isHeld(by: member.host, session, request.token) == true else {
            // An earlier run of the same host ends nothing: the lease at which the command is aimed may stand.
            if let order = commands.request(key),
                standing.record?.token.rawValue != order.token || standing.record?.holder?.host != order.holder
            {
                commands.changedHands(key, at: clock.now())
            }
            throw CloudFailure(
                .leaseLost, "\(standing.meter) has changed hands, so the command must not be done by \(member.name)")
        }
        try commands.claim(key, by: member.host, token: request.token, at: clock.now())
    }

    /// The holder has done it, or has not.
    package func answer(
        _ request: RelayOutcomeRequest, _ requestID: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) {
        let member = try member(principal, of: zone)
        let said = request.answer
        try Self.check(
            [said.code, said.message, said.next, said.result, said.holderName], CloudLimits.resultBytes, "an outcome")
        try Self.check([request.copy], CloudLimits.actionTextBytes, "the name of a copy")
        let key = PendingKey(zone: zone, requestID: try Self.request(requestID))
        guard let other = elsewhere(request.copy, isHere: commands.request(key) != nil) else {
            return try answer(request, key, by: member.host)
        }
        let outcome = CopyQuestionBody.Outcome(
            zone: zone, requestID: requestID, hostID: member.host.description, request: request)
        try await ask(other) { $0.outcome = outcome }
    }

    /// Takes it here.
    func answer(_ request: RelayOutcomeRequest, _ key: PendingKey, by host: HostID) throws(CloudFailure) {
        let isNews = try commands.answer(key, by: host, token: request.token, request.answer, at: clock.now())
        if !isNews { logger.debug("an outcome for which nobody waits", metadata: ["command": "\(key.requestID)"]) }
    }

    /// A host listens from now on: tells it what it has missed.
    func tellWaitingCommands(to host: HostID, in zone: String) {
        for (key, order) in commands.offered(to: host, in: zone) {
            hub.tellCommand(event(order, key), to: order.holder, zone: key.zone)
        }
        let listener = CopyNewsBody.Listener(zone: zone, hostID: host.description)
        post.tell { $0.add(listener) }
    }

    /// Tells another copy of the commands that wait for a host that has begun to listen there.
    func tellWaitingCommands(to host: HostID, in zone: String, at copy: ReplicaID) {
        for (key, order) in commands.offered(to: host, in: zone) {
            let command = note(order, key)
            post.tell(copy) { $0.add(command) }
        }
    }

    private func tell(_ order: PendingCommand, _ key: PendingKey) {
        let command = note(order, key)
        hub.tellCommand(command.command, to: order.holder, zone: key.zone)
        // The holder may listen to any of them.
        post.tell { $0.add(command) }
    }

    private func note(_ order: PendingCommand, _ key: PendingKey) -> CopyNewsBody.Command {
        CopyNewsBody.Command(zone: key.zone, holderID: order.holder.description, command: event(order, key))
    }

    private func event(_ order: PendingCommand, _ key: PendingKey) -> EventBody.Command {
        var event = EventBody.Command(
            requestID: key.requestID.description, meter: order.meter, token: order.token, action: order.action,
            hostID: order.author.description, hostName: order.authorName)
        event.copy = post.isOpen ? copy.description : nil
        return event
    }

    /// The copy that took a request, if it is another one.
    func elsewhere(_ copy: String?, isHere: Bool) -> ReplicaID? {
        guard !isHere, let other = copy.flatMap({ ReplicaID($0) }), other != self.copy else { return nil }
        return other
    }

    private func lost(_ record: LeaseRecord?, of meter: String, in zone: Zone) -> CloudFailure {
        let present = record?.holder.map { "\($0.hostName) has \(meter) now" } ?? "nobody has \(meter)"
        var failure = CloudFailure(.leaseLost, "the command is for another holder: \(present)")
        failure.lease = body(of: record, meter: meter, in: zone)
        return failure
    }

    private static func check(_ texts: [String?], _ bytesMax: Int, _ what: String) throws(CloudFailure) {
        for text in texts.compactMap(\.self) where text.utf8.count > bytesMax {
            throw CloudFailure(
                .limitExceeded,
                "\(text.utf8.count) bytes are too many for \(what); a text has at most \(bytesMax)")
        }
    }

    static func request(_ text: String) throws(CloudFailure) -> RequestID {
        guard let id = RequestID(text) else {
            throw CloudFailure(.badRequest, "\"\(text.prefix(64))\" is not a UUID, which the id of a request is")
        }
        return id
    }
}
