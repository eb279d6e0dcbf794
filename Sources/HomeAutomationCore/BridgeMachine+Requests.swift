package import MeterModel

/// Incoming messages: requests, and Home Assistant's message that it has started.
extension BridgeMachine {
    /// A request being carried out.
    struct Asked: Hashable, Sendable {
        var request: MeterRequest
        var key: String
    }

    /// Most requests carried out at once, for all meters together.
    static let requestsMax = 8
    /// Most messages to request topics handled between two looks at the meters. The rest are only counted, so that a
    /// flood fills neither the log nor the broker.
    static let requestsPerTick = 20

    /// A message came.
    package mutating func received(_ message: BrokerMessage, at now: MonotonicTime) -> [Action] {
        guard case .open = link else { return [] }
        if message.topic == settings.topics.homeAssistantStatus {
            guard message.payload == Array("online".utf8) else { return [] }
            return birth(at: now)
        }
        guard let key = settings.topics.requestKey(in: message.topic) else { return [] }
        guard requestsLeft > 0 else {
            ignoredRequests += 1
            return []
        }
        requestsLeft -= 1
        // It would be carried out again at each connection, long after anybody wanted it.
        guard !message.isRetained else { return [.tell(.requestRefused(key: key, cause: "it is a retained message"))] }
        return asked(message.payload, of: key) + send(at: now)
    }

    /// More messages came than can be handled.
    package mutating func overrun(by count: Int) { ignoredRequests += count }

    /// Home Assistant has started and knows nothing. Its message may come so often that it would crowd out everything
    /// else.
    mutating func birth(at now: MonotonicTime) -> [Action] {
        if let lastBirth, now - lastBirth < settings.birthInterval {
            owesAnnouncement = true
            return []
        }
        lastBirth = now
        owesAnnouncement = false
        outbox.put(bridgeMessage(.online))
        return [.tell(.homeAssistantStarted)] + announceAll(at: now) + send(at: now)
    }

    private mutating func asked(_ payload: [UInt8], of key: String) -> [Action] {
        guard performing.count < Self.requestsMax else {
            respond(
                to: nil, key: key, transaction: nil,
                .failed(
                    code: "too-many-requests", message: "\(performing.count) requests are being carried out already",
                    next: "wait for their responses"))
            return []
        }
        let request: MeterRequest
        do throws(MeterRequest.Problem) {
            request = try MeterRequest(payload)
        } catch {
            respond(
                to: nil, key: key, transaction: error.transaction,
                .failed(code: "bad-request", message: error.message, next: error.next))
            return [.tell(.requestRefused(key: key, cause: error.message))]
        }
        guard let id = meters.keys.first(where: { $0.topicKey == key }) else {
            respond(
                to: request, key: key, transaction: request.transaction,
                .failed(code: "no-such-meter", message: "no meter is called \(key)", next: "meterctl scan"))
            return [.tell(.requestRefused(key: key, cause: "there is no such meter"))]
        }
        let number = nextRequest
        nextRequest += 1
        performing[number] = Asked(request: request, key: key)
        return [.tell(.requested(id, "\(request)")), .perform(number, request, id)]
    }

    /// A request was carried out, or failed.
    package mutating func answered(
        _ number: RequestNumber, _ outcome: RequestOutcome, at now: MonotonicTime
    ) -> [Action] {
        guard let asked = performing.removeValue(forKey: number), isConnected else { return [] }
        respond(to: asked.request, key: asked.key, transaction: asked.request.transaction, outcome)
        return send(at: now)
    }

    private mutating func respond(
        to request: MeterRequest?, key: String, transaction: String?, _ outcome: RequestOutcome
    ) {
        let meter = meters.keys.first { $0.topicKey == key }.map { "\($0)" } ?? key
        outbox.put(
            BrokerMessage(
                settings.topics.response(key),
                MeterPayloads.response(request, meter: meter, outcome, transaction: transaction)), .response)
    }
}
