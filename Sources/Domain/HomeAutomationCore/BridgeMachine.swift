/// The number of a message within one machine, by which it is acknowledged.
package typealias PacketNumber = UInt64
/// The number of a request within one machine, by which its outcome is reported.
package typealias RequestNumber = UInt64

/// Publishes meters to a broker, and receives requests for them.
///
/// The machine performs no I/O and reads no clock. Every method names something that happened and returns what to do.
/// `observed` must be called about once a second, whatever else happens: this is also how time passes.
///
/// A gateway publishes a meter that is wanted here, unless another host has it, and announces it with its first
/// reading. A meter's own topics do not name the gateway, so that the host that has it next can continue them.
///
/// It composes parts that know nothing of each other, and puts what follows from an event in order.
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
    /// Why there is no link. Nil while there is one, and until the first attempt has ended.
    package var trouble: BrokerTrouble? { connection.trouble }
    /// Number of links that came up since the start.
    package var linksOpened: Int { connection.linksOpened }
    /// Number of readings waiting for the broker.
    package var backlogCount: Int { outbox.backlogCount }
    /// Number of readings lost for lack of room since the start.
    package var backlogDropped: Int { outbox.readingsDropped }
    /// Number of messages that are waiting to be sent, to be confirmed, or for the broker to come back.
    package var queueCount: Int { outbox.count }
    /// Number of readings and responses given up for lack of room since the start.
    package var droppedCount: Int { outbox.droppedCount }
    /// Number of messages confirmed by the broker since the start.
    package var publishedCount: Int { outbox.confirmedCount }
    /// Number of messages refused by the broker since the start.
    package var refusedCount: Int { outbox.refusedCount }
    /// Number of topics for which the broker refused something since the link came up.
    package var refusedTopicsCount: Int { refusedTopics.count }
    /// Number of announcements, readings and statuses encoded since the start: never more than changes.
    package var payloadsMade: Int { meters.payloadsMade }

    // MARK: Events of the link

    package mutating func start(at now: MonotonicTime) -> [Action] { connection.start(at: now) }

    /// The broker accepted the connection.
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

    /// The link is lost, or the attempt failed.
    ///
    /// - Parameters:
    ///   - cause: why it ended.
    ///   - random: random bits, for the jitter of the next attempt.
    package mutating func linkLost(_ cause: BrokerTrouble, at now: MonotonicTime, random: UInt64) -> [Action] {
        if connection.isOpen { outbox.linkLost() }
        return connection.lost(cause, at: now, random: random)
    }

    /// The broker has received a message, or refused it.
    ///
    /// - Parameter refusal: the reason, or nil if it was accepted.
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

    /// Says goodbye: without it the broker would publish the will. `finished` follows when all is done.
    package mutating func stop(at now: MonotonicTime) -> [Action] {
        guard connection.isOpen else { return connection.stop() }
        outbox.linkLost()
        outbox.put(topics.bridgeMessage(.offline))
        guard let (number, message) = outbox.next(at: now) else { return connection.stop() }
        connection.close(after: number, at: now)
        return [.publish(number, message)]
    }

    /// Sends whatever may be sent.
    private mutating func send(at now: MonotonicTime) -> [Action] {
        guard connection.isOpen else { return [] }
        var actions: [Action] = []
        while let (number, message) = outbox.next(at: now) { actions.append(.publish(number, message)) }
        return actions
    }

    // MARK: Meters, and time

    /// Looks at all meters, publishes what changed, and lets time pass. Nothing is generated for a meter without news.
    ///
    /// - Parameters:
    ///   - seen: each meter of this host, once.
    ///   - alerts: each rule of this host, once.
    ///   - marks: those made or changed since the last look. Without a link nobody hears of them.
    ///   - random: random bits.
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
        // One line when it begins; the number follows with the next connection.
        if outbox.beginsToOverflow() { actions.append(.tell(.backlogFull)) }
        return actions + send(at: now)
    }

    /// Time has passed.
    private mutating func woke(at now: MonotonicTime, random: UInt64) -> [Action] {
        let wasOpen = connection.isOpen
        let actions = connection.woke(at: now, random: random, oldestSent: outbox.oldestSent)
        guard wasOpen else { return actions }
        if connection.isOpen { return homeAssistant.isOwed ? homeAssistantStarted(at: now) : [] }
        outbox.linkLost()
        return actions
    }

    // MARK: Incoming messages

    /// A message came: a request, or Home Assistant's that it has started.
    package mutating func received(_ message: BrokerMessage, at now: MonotonicTime) -> [Action] {
        guard connection.isOpen else { return [] }
        if message.topic == topics.homeAssistantStatus {
            return message.payload == Array("online".utf8) ? homeAssistantStarted(at: now) : []
        }
        guard let key = topics.requestKey(in: message.topic), requests.admit() else { return [] }
        // It would be carried out again at each connection, long after anybody wanted it.
        guard !message.isRetained else { return [.tell(.requestRefused(key: key, cause: "it is a retained message"))] }
        return asked(message.payload, of: key) + send(at: now)
    }

    /// More messages came than can be handled.
    package mutating func overrun(by count: Int) { requests.overrun(by: count) }

    /// Home Assistant has started and knows nothing.
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

    /// A request was carried out, or failed.
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
