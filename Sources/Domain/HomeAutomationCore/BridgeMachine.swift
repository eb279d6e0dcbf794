/// Number of a sent message; its acknowledgement contains the same number.
package typealias PacketNumber = UInt64
/// Number of a request; its outcome contains the same number.
package typealias RequestNumber = UInt64

/// Publishes meters to a broker, and receives requests for them.
///
/// The machine performs no I/O and reads no clock. Every method reports an event and returns the actions to perform.
/// Call `observed` about once a second: it also drives the timeouts.
///
/// A gateway publishes a wanted meter from its first reading on, unless another host holds it. A meter's topics do not
/// contain the gateway's name, so that its next host can continue them.
package struct BridgeMachine: Sendable {
    private let topics: BrokerTopics
    private var connection: BrokerConnection
    private var outbox: Outbox
    private var meters: PublishedMeters
    private var alerts: PublishedAlerts
    private var requests = BrokerRequests()
    private var homeAssistant: HomeAssistantStarts
    private var refusedTopics = RefusedTopics()

    package init(_ settings: Settings) {
        topics = settings.topics
        connection = BrokerConnection(settings)
        outbox = Outbox(backlog: settings.backlog)
        meters = PublishedMeters(settings)
        alerts = PublishedAlerts(settings)
        homeAssistant = HomeAssistantStarts(interval: settings.birthInterval)
    }

    // MARK: State

    package var isConnected: Bool { connection.isOpen }
    /// Reason why the link is down; nil while it is up, and until the first attempt has ended.
    package var trouble: BrokerTrouble? { connection.trouble }
    package var linksOpened: Int { connection.linksOpened }
    package var backlogCount: Int { outbox.backlogCount }
    /// Readings dropped since the start because the backlog was full.
    package var backlogDropped: Int { outbox.readingsDropped }
    /// Messages waiting to be sent or acknowledged, including the backlog.
    package var queueCount: Int { outbox.count }
    /// Readings and responses dropped since the start because a queue was full.
    package var droppedCount: Int { outbox.droppedCount }
    package var publishedCount: Int { outbox.confirmedCount }
    package var refusedCount: Int { outbox.refusedCount }
    /// Number of topics on which the broker refused a message since the link came up.
    package var refusedTopicsCount: Int { refusedTopics.count }
    /// Messages encoded since the start, at most one per change.
    package var payloadsMade: Int { meters.payloadsMade }

    // MARK: Events of the link

    package mutating func start(at now: MonotonicTime) -> [Action] { connection.start(at: now) }

    package mutating func linkOpened(at now: MonotonicTime) -> [Action] {
        guard connection.opened(at: now) else { return [] }
        let notice = Notice.connected(
            outage: connection.outage(until: now), backlog: outbox.backlogCount, dropped: outbox.readingsDropped)
        refusedTopics.removeAll()
        outbox.linkOpened()
        outbox.put(topics.bridgeMessage(.online))
        let announced = meters.announceAll(at: now, to: &outbox)
        alerts.announceAll(to: &outbox)
        meters.clearFormer(in: &outbox)
        return [.tell(notice), .subscribe([topics.allRequests, topics.homeAssistantStatus])]
            + announced.map(Action.tell) + send(at: now)
    }

    /// Handles the loss of the link, or a failed attempt.
    package mutating func linkLost(_ cause: BrokerTrouble, at now: MonotonicTime, random: UInt64) -> [Action] {
        if connection.isOpen { outbox.linkLost() }
        return connection.lost(cause, at: now, random: random)
    }

    /// - Parameter refusal: the broker's reason; nil if it accepted the message.
    package mutating func acknowledged(
        _ number: PacketNumber, refusal: String? = nil, at now: MonotonicTime
    ) -> [Action] {
        let topic = outbox.acknowledged(number, isRefused: refusal != nil)
        if connection.isClosing { return connection.acknowledged(number) }
        var actions: [Action] = []
        if let topic, let refusal, refusedTopics.record(topic) {
            actions.append(.tell(.publishRefused(topic: topic, cause: refusal)))
        }
        return actions + send(at: now)
    }

    /// Publishes that the gateway is offline, because the broker might not publish the will. The last action is
    /// `finished`.
    package mutating func stop(at now: MonotonicTime) -> [Action] {
        guard connection.isOpen else { return connection.stop() }
        outbox.linkLost()
        outbox.put(topics.bridgeMessage(.offline))
        guard let (number, message) = outbox.next(at: now) else { return connection.stop() }
        connection.close(after: number, at: now)
        return [.publish(number, message)]
    }

    private mutating func send(at now: MonotonicTime) -> [Action] {
        guard connection.isOpen else { return [] }
        var actions: [Action] = []
        while let (number, message) = outbox.next(at: now) { actions.append(.publish(number, message)) }
        return actions
    }

    // MARK: Meters, and time

    /// Publishes changes and drives the timeouts. Unchanged meters are not encoded.
    ///
    /// - Parameters:
    ///   - seen: all meters of this host, each once.
    ///   - alerts: all rules of this host, each once.
    ///   - marks: users' marks made or changed since the last call; dropped without a link.
    package mutating func observed(
        _ seen: [BridgedMeter], alerts present: [BridgedAlert] = [], marks: [BridgedMark] = [],
        at now: MonotonicTime, random: UInt64
    ) -> [Action] {
        var actions = woke(at: now, random: random)
        guard !connection.isStopped else { return actions }
        actions += meters.observed(seen, at: now, isConnected: connection.isOpen, to: &outbox).map(Action.tell)
        alerts.observed(present, isConnected: connection.isOpen, to: &outbox)
        if connection.isOpen {
            for mark in marks { outbox.put(mark.message(topics), .response) }
        }
        let ignored = requests.tick()
        if ignored > 0 { actions.append(.tell(.requestsIgnored(ignored))) }
        // Report this only once; the next `connected` notice contains the number of dropped readings.
        if outbox.beginsToOverflow() { actions.append(.tell(.backlogFull)) }
        return actions + send(at: now)
    }

    private mutating func woke(at now: MonotonicTime, random: UInt64) -> [Action] {
        let wasOpen = connection.isOpen
        let actions = connection.woke(at: now, random: random, oldestSent: outbox.oldestSent)
        guard wasOpen else { return actions }
        if connection.isOpen { return homeAssistant.isOwed ? homeAssistantStarted(at: now) : [] }
        outbox.linkLost()
        return actions
    }

    // MARK: Incoming messages

    /// Handles a request, or Home Assistant's start message.
    package mutating func received(_ message: BrokerMessage, at now: MonotonicTime) -> [Action] {
        guard connection.isOpen else { return [] }
        if message.topic == topics.homeAssistantStatus {
            return message.payload == Array("online".utf8) ? homeAssistantStarted(at: now) : []
        }
        guard let key = topics.requestKey(in: message.topic), requests.admit() else { return [] }
        // The broker would repeat a retained request at each connection, long after the user wanted it.
        guard !message.isRetained else { return [.tell(.requestRefused(key: key, cause: "it is a retained message"))] }
        return asked(message.payload, of: key) + send(at: now)
    }

    /// Counts messages that were dropped before they reached the machine.
    package mutating func overrun(by count: Int) { requests.overrun(by: count) }

    private mutating func homeAssistantStarted(at now: MonotonicTime) -> [Action] {
        guard homeAssistant.serve(at: now) else { return [] }
        outbox.put(topics.bridgeMessage(.online))
        let announced = meters.announceAll(at: now, to: &outbox).map(Action.tell)
        alerts.announceAll(to: &outbox)
        return [.tell(.homeAssistantStarted)] + announced + send(at: now)
    }

    private mutating func asked(_ payload: [UInt8], of key: String) -> [Action] {
        switch requests.asked(payload, of: key, meter: meters.id(ofKey: key)) {
        case .perform(let number, let request, let meter):
            return [.tell(.requested(meter, "\(request)")), .perform(number, request, meter)]
        case .refuse(let response, let cause):
            respond(response)
            return cause.map { [.tell(.requestRefused(key: key, cause: $0))] } ?? []
        }
    }

    package mutating func answered(
        _ number: RequestNumber, _ outcome: RequestOutcome, at now: MonotonicTime
    ) -> [Action] {
        guard let response = requests.answered(number, outcome), connection.isOpen else { return [] }
        respond(response)
        return send(at: now)
    }

    private mutating func respond(_ response: BrokerRequests.Response) {
        let key = response.key
        let payload = MeterPayloads.response(
            response.request, meter: meters.id(ofKey: key).map { "\($0)" } ?? key, response.outcome,
            transaction: response.transaction)
        outbox.put(BrokerMessage(topics.response(key), payload), .response)
    }
}
