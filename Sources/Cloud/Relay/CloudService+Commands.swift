package import CloudAPI
import Domain
import Logging
import Synchronization

/// Commands for a meter held by another host (Docs/Relay.md#commands). The replica that received a command offers it to
/// the holder. The store decides about the claim and keeps the outcome.
extension CloudService {
    /// Sends a command to the meter's holder and waits for the outcome. A repeated request for a claimed command
    /// returns its outcome, even if the lease has changed.
    ///
    /// - Throws: `leaseLost` with the present lease if the fencing token does not match it, `badRequest`,
    ///   `rateLimited`.
    package func command(
        _ request: RelayCommandRequest, of meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> RelayCommandAnswer {
        let member = try member(principal, of: zone)
        let key = PendingKey(zone: zone, requestID: try Self.request(request.requestID))
        let wish = CommandWish(
            author: member.host, meter: try Self.meter(meter), token: request.token, action: request.action)
        if let known = try await outcome(of: wish, key) { return known }
        try Self.check(
            [request.action.kind, request.action.command, request.action.name], CloudLimits.actionTextBytes, "a command"
        )
        let zone = try await existing(zone)
        let standing = try await ask { try await engine.standing(of: wish.meter, in: zone.name) }
        guard let lease = standing.record, let holder = lease.holder, lease.token.rawValue == wish.token else {
            // The command may have been claimed since the first look-up of the outcome. This second one is final: no
            // host can claim a command under a lost lease.
            if let known = try await outcome(of: wish, key) { return known }
            throw lost(standing.record, of: standing.meter, in: zone)
        }
        let stored = try await ask { try await engine.commandCounts(of: member.host, in: zone.name) }
        let order = PendingCommand(
            wish: wish, meter: standing.meter, holder: holder.host, holderName: holder.hostName, author: member.host,
            authorName: member.name)
        let end = try await commands.ask(key, order, stored: stored, now: clock.now) { tell(order, key) }
        return await settled(end, of: order, key)
    }

    private static let lookInterval = Duration.seconds(1)

    /// Returns the stored outcome; nil if the command is not stored.
    ///
    /// - Throws: `badRequest` if the id belongs to another command.
    private func outcome(of wish: CommandWish, _ key: PendingKey) async throws(CloudFailure) -> RelayCommandAnswer? {
        guard let stored = try await stored(key) else { return nil }
        guard stored.wish == wish else { throw .used(key.requestID) }
        return await outcome(of: stored, key)
    }

    /// Waits for the outcome until the command's deadline. Does not wait if too many repeated requests of the author
    /// already do.
    private func outcome(of stored: StoredCommand, _ key: PendingKey) async -> RelayCommandAnswer {
        var stored = stored
        let author = "\(key.zone) \(stored.wish.author)"
        let waiting = repeats.withLock { repeats in
            repeats[author, default: 0] += 1
            return repeats[author] ?? 0
        }
        defer {
            repeats.withLock { repeats in
                let left = (repeats[author] ?? 1) - 1
                repeats[author] = left > 0 ? left : nil
            }
        }
        let end = clock.now() + PendingCommand.rules.outcomeTime
        while stored.outcome == nil, waiting <= PendingCommand.rules.openPerHost, clock.now() < end, !Task.isCancelled {
            try? await clock.sleep(clock.now() + Self.lookInterval)
            // The command was claimed, so a failing store is no reason to refuse it.
            stored = (try? await self.stored(key)) ?? stored
        }
        return stored.outcome ?? .silence(of: stored.holderName)
    }

    private func stored(_ key: PendingKey) async throws(CloudFailure) -> StoredCommand? {
        try await ask {
            try await engine.decideCommand(key.requestID, under: nil, in: key.zone) { stored, _ in
                CommandDecision(stored)
            }
        }
    }

    /// Returns the answer for the author. If the command ended without a claim, first stores this end, so that no
    /// replica grants a claim afterwards. A claim already granted by another replica decides the outcome.
    private func settled(
        _ end: CommandEnd, of order: PendingCommand, _ key: PendingKey
    ) async -> RelayCommandAnswer {
        guard !end.wasClaimed || !end.isHoldersWord else { return end.answer }
        do throws(CloudFailure) {
            let found = try await ask {
                try await engine.decideCommand(key.requestID, under: nil, in: key.zone) { stored, _ in
                    // If another command is stored under this id, no host can claim ours.
                    if let stored { return CommandDecision(stored.wish == order.wish ? stored : nil) }
                    return CommandDecision(nil, storing: end.wasClaimed ? nil : order.stored(end.answer))
                }
            }
            guard let found else { return end.answer }
            return end.wasClaimed ? found.outcome ?? end.answer : await outcome(of: found, key)
        } catch {
            logger.warning("command outcome unknown", metadata: ["command": "\(key.requestID)"])
            var answer = RelayCommandAnswer(.timedOut, message: "the cloud does not know (\(error.message))")
            answer.holderName = order.holderName
            return answer
        }
    }

    /// Claims a command that the holder is about to run.
    ///
    /// - Throws: `leaseLost` or `notFound` if the holder must not run it.
    package func claim(
        _ request: RelayClaimRequest, _ requestID: String, of meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) {
        let member = try member(principal, of: zone)
        let key = PendingKey(zone: zone, requestID: try Self.request(requestID))
        try Self.check([request.copy], CloudLimits.actionTextBytes, "the name of a copy")
        guard let other = elsewhere(request.copy, isHere: commands.request(key) != nil) else {
            return try await claim(request, key, of: meter, by: member)
        }
        let claim = ReplicaQuestionBody.Claim(
            zone: zone, meter: meter, requestID: requestID, hostID: member.host.description, hostName: member.name,
            request: request)
        try await ask(other) { $0.claim = claim }
    }

    private enum Claim {
        case granted
        case leaseLost(LeaseRecord?)
        case over
    }

    func claim(
        _ request: RelayClaimRequest, _ key: PendingKey, of meter: String, by member: Member
    ) async throws(CloudFailure) {
        let session = try Self.session(request.session)
        let meter = try Self.meter(meter)
        let order = commands.request(key).flatMap { $0.meter == meter ? $0 : nil }
        let offer = order == nil ? nil : commands.offer(key, to: member.host, token: request.token, at: clock.now())
        let claim = try await ask {
            try await engine.decideCommand(key.requestID, under: meter, in: key.zone) { stored, lease in
                guard lease?.isHeld(by: member.host, session, request.token) == true else {
                    return CommandDecision(Claim.leaseLost(lease))
                }
                guard stored == nil, let offer else { return CommandDecision(Claim.over) }
                return CommandDecision(Claim.granted, storing: offer.stored())
            }
        }
        switch claim {
        case .granted: commands.claimed(key, at: clock.now())
        case .leaseLost(let lease):
            // If an earlier process of the same host sent the claim, do not end the command: the command's lease may
            // still be valid.
            if let order, lease?.token.rawValue != order.wish.token || lease?.holder?.host != order.holder {
                commands.changedHands(key)
            }
            throw CloudFailure(
                .leaseLost, "\(meter) has changed hands, so \(member.name) must not run the command")
        case .over:
            throw CloudFailure(.notFound, "the request \(key.requestID) must not run: it is claimed, or over")
        }
    }

    /// Stores the outcome that the holder reports. The replica that received the command answers its author.
    package func answer(
        _ request: RelayOutcomeRequest, _ requestID: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) {
        let member = try member(principal, of: zone)
        let said = request.answer
        let texts = [said.code, said.message, said.next, said.result, said.holderName]
        try Self.check([texts.compactMap(\.self).joined()], CloudLimits.resultBytes, "an outcome")
        try Self.check([request.copy], CloudLimits.actionTextBytes, "the name of a copy")
        let key = PendingKey(zone: zone, requestID: try Self.request(requestID))
        // Answer a waiting author even if the store fails.
        let isStored: Result<Bool, CloudFailure>
        do throws(CloudFailure) {
            isStored = .success(try await store(request, key, by: member))
        } catch {
            isStored = .failure(error)
        }
        guard let other = elsewhere(request.copy, isHere: commands.request(key) != nil) else {
            try answer(request, key, by: member.host)
            return _ = try isStored.get()
        }
        let outcome = ReplicaQuestionBody.Outcome(
            zone: zone, requestID: requestID, hostID: member.host.description, request: request)
        do {
            try await ask(other) { $0.outcome = outcome }
        } catch {
            // The replica that received the command may be gone. Ignore this if the outcome is stored: the author finds
            // it in the store.
            guard try isStored.get() else { throw error }
        }
        _ = try isStored.get()
    }

    private func store(
        _ request: RelayOutcomeRequest, _ key: PendingKey, by member: Member
    ) async throws(CloudFailure) -> Bool {
        var answer = request.answer
        answer.holderName = member.name
        return try await ask { [answer] in
            try await engine.decideCommand(key.requestID, under: nil, in: key.zone) { stored, _ in
                guard var command = stored, command.holder == member.host.description,
                    command.wish.token == request.token
                else { return CommandDecision(false) }
                guard command.outcome == nil else { return CommandDecision(true) }
                command.outcome = answer
                return CommandDecision(true, storing: command)
            }
        }
    }

    func answer(_ request: RelayOutcomeRequest, _ key: PendingKey, by host: HostID) throws(CloudFailure) {
        let isNews = try commands.answer(key, by: host, token: request.token, request.answer)
        if !isNews {
            logger.debug(
                "command outcome ignored: no request is waiting for it", metadata: ["command": "\(key.requestID)"])
        }
    }

    func forgetCommands(_ ages: inout CommandAges) async {
        do {
            let old = ages.look(at: try await engine.commandMarks(), now: clock.now())
            if !old.isEmpty { try await engine.forget(old) }
        } catch {
            logger.warning("deletion of old commands failed", metadata: ["error": "\(error)"])
        }
    }

    func tellWaitingCommands(to host: HostID, in zone: String) {
        for (key, order) in commands.offered(to: host, in: zone) {
            hub.tellCommand(event(order, key), to: order.holder, zone: key.zone)
        }
        let listener = ReplicaNewsBody.Listener(zone: zone, hostID: host.description)
        post.tell { $0.add(listener) }
    }

    func tellWaitingCommands(to host: HostID, in zone: String, at copy: ReplicaID) {
        for (key, order) in commands.offered(to: host, in: zone) {
            let command = note(order, key)
            post.tell(copy) { $0.add(command) }
        }
    }

    private func tell(_ order: PendingCommand, _ key: PendingKey) {
        let command = note(order, key)
        hub.tellCommand(command.command, to: order.holder, zone: key.zone)
        // The holder may listen to any replica, so tell all.
        post.tell { $0.add(command) }
    }

    private func note(_ order: PendingCommand, _ key: PendingKey) -> ReplicaNewsBody.Command {
        ReplicaNewsBody.Command(zone: key.zone, holderID: order.holder.description, command: event(order, key))
    }

    private func event(_ order: PendingCommand, _ key: PendingKey) -> EventBody.Command {
        var event = EventBody.Command(
            requestID: key.requestID.description, meter: order.meter, token: order.wish.token,
            action: order.wish.action, hostID: order.author.description, hostName: order.authorName)
        event.copy = post.isOpen ? copy.description : nil
        return event
    }

    /// Returns the replica that received a request. Nil if this replica received it.
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
                "\(text.utf8.count) bytes are too many for \(what); send \(bytesMax)")
        }
    }

    static func request(_ text: String) throws(CloudFailure) -> RequestID {
        guard let id = RequestID(text) else {
            throw CloudFailure(.badRequest, "\"\(text.prefix(64))\" is not a request id; one is a UUID")
        }
        return id
    }
}
