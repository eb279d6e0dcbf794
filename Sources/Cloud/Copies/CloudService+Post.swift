package import CloudAPI
import Domain
import Logging

/// Exchange of watched meters, readings and commands between replicas (Docs/Relay.md#several-copies).
extension CloudService {
    package func open(_ link: any ReplicaLink, at address: String) {
        post.open(ReplicaPost.Door(link: link, address: address))
    }

    /// Whether a request contains the shared secret of the replicas.
    package func isCopy(_ shown: String) -> Bool {
        guard let key = post.key, key.utf8.count == shown.utf8.count else { return false }
        // Compares in constant time.
        return zip(key.utf8, shown.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    package var copyCounts: (known: Int, silent: Int) {
        let counts = post.counts
        return (counts.peers, counts.silent)
    }

    /// Delivers waiting messages to the other replicas, until its task is cancelled.
    package func carryNews() async {
        await withDiscardingTaskGroup { group in
            for await other in post.ready {
                group.addTask { await self.deliver(to: other) }
            }
        }
    }

    func meet(_ addresses: [ReplicaID: String]) async throws {
        guard post.isOpen else { return }
        let key: String
        if let known = post.key {
            key = known
        } else {
            let digits = (0..<4).map { _ in Self.digits(nextRandom()) }
            key = try await engine.copiesKey(proposing: digits.joined())
        }
        var others = addresses
        others[copy] = nil
        for gone in post.found(others, key: key) { relay.forget(gone) }
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    private static let retryInterval = Duration.seconds(1)

    private func deliver(to other: ReplicaID) async {
        while !Task.isCancelled, let delivery = post.take(for: other) {
            do {
                let answer = try await delivery.link.tell(
                    news(delivery, for: other), at: delivery.address, key: delivery.key)
                post.delivered(to: other)
                if let watching = answer.watching { await note(watching, at: other) }
            } catch {
                if post.failed(delivery.parcel, to: other) {
                    logger.warning(
                        "replica unreachable: readings and commands not delivered",
                        metadata: ["copy": "\(other)", "address": "\(delivery.address)", "cause": "\(error)"])
                }
                try? await clock.sleep(clock.now() + Self.retryInterval)
            }
        }
    }

    private func news(_ delivery: ReplicaPost.Delivery, for other: ReplicaID) -> ReplicaNewsBody {
        let parcel = delivery.parcel
        var news = ReplicaNewsBody(from: copy.description, to: other.description, address: delivery.ownAddress)
        if parcel.tellsWatching { news.watching = relay.watchedHere }
        if delivery.asks { news.asks = true }
        if !parcel.events.isEmpty { news.events = parcel.events }
        if !parcel.commands.isEmpty { news.commands = parcel.commands }
        if !parcel.listeners.isEmpty { news.listeners = parcel.listeners }
        return news
    }

    // MARK: Messages from other replicas

    /// - Throws: `notFound` if the message is for another replica (perhaps an earlier id of this one); `badRequest`.
    package func hear(_ news: ReplicaNewsBody) async throws(CloudFailure) -> ReplicaNewsAnswer {
        let from = try addressed(to: news.to, from: news.from)
        post.heard(from: from, at: news.address)
        if let watching = news.watching { await note(watching, at: from) }
        for event in news.events ?? [] {
            try event.event.batch?.check()
            relay.tell(event.event, of: MeterPlace(zone: event.zone, meter: event.meter))
        }
        for command in news.commands ?? [] {
            guard let holder = HostID(command.holderID) else { continue }
            hub.tellCommand(command.command, to: holder, zone: command.zone)
        }
        for listener in news.listeners ?? [] {
            guard let host = HostID(listener.hostID) else { continue }
            tellWaitingCommands(to: host, in: listener.zone, at: from)
        }
        return ReplicaNewsAnswer(watching: news.asks == true ? relay.watchedHere : nil)
    }

    /// - Throws: the refusal for the requesting host.
    package func answer(_ question: ReplicaQuestionBody) async throws(CloudFailure) -> ReplicaAnswerBody {
        _ = try addressed(to: question.to, from: question.to)
        if let claim = question.claim {
            guard let host = HostID(claim.hostID) else { throw CloudFailure(.badRequest, "the claim names no host") }
            let key = PendingKey(zone: claim.zone, requestID: try Self.request(claim.requestID))
            let member = Member(host: host, name: claim.hostName, credential: "")
            try await self.claim(claim.request, key, of: claim.meter, by: member)
            return ReplicaAnswerBody()
        }
        if let outcome = question.outcome {
            guard let host = HostID(outcome.hostID) else { throw CloudFailure(.badRequest, "the answer names no host") }
            let key = PendingKey(zone: outcome.zone, requestID: try Self.request(outcome.requestID))
            try answer(outcome.request, key, by: host)
            return ReplicaAnswerBody()
        }
        if let answer = try await answerLog(question) { return answer }
        throw CloudFailure(.badRequest, "this copy does not know the question; update all copies together")
    }

    private func addressed(to: String, from: String) throws(CloudFailure) -> ReplicaID {
        guard ReplicaID(to) == copy, let from = ReplicaID(from) else {
            throw CloudFailure(.notFound, "this is not the copy \(to.prefix(64)); it was started again, or given up")
        }
        return from
    }

    /// Stores the list of meters watched at another replica, so that holders that listen to this replica send their
    /// readings.
    private func note(_ watching: [ReplicaWatch], at other: ReplicaID) async {
        var places: [MeterPlace: Bool] = [:]
        for watch in watching.prefix(CloudLimits.copyWatches) {
            places[MeterPlace(zone: watch.zone, meter: watch.meter)] = watch.all ?? false
        }
        for place in relay.setWatched(places, at: other, until: clock.now() + RelayTimes.interest) {
            await lookAtHolder(of: place)
        }
    }

    func passOn(_ event: RelayEventBody, of place: MeterPlace) {
        for other in relay.copies(watching: place) {
            post.tell(other) { $0.add(event, of: place) }
        }
    }

    @discardableResult
    func ask(
        _ other: ReplicaID, _ question: (inout ReplicaQuestionBody) -> Void
    ) async throws(CloudFailure) -> ReplicaAnswerBody {
        guard let (link, address, key) = post.line(to: other) else {
            throw CloudFailure(.notFound, "the copy of the cloud for this question is gone")
        }
        var body = ReplicaQuestionBody(to: other.description)
        question(&body)
        return try await link.ask(body, at: address, key: key)
    }
}

extension CloudFailure {
    /// Failure until this replica has received the other replicas' lists of watched meters.
    static var justStarted: CloudFailure {
        CloudFailure(.rateLimited, "this copy of the cloud has just started; ask again", retryAfter: .seconds(1))
    }
}
