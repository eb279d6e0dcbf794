package import MeterModel

/// The number of a message within one machine, by which it is acknowledged.
package typealias PacketNumber = UInt64
/// The number of a request within one machine, by which its outcome is reported.
package typealias RequestNumber = UInt64

/// Publishes meters to a broker, and receives requests for them.
///
/// ```
///            open               linkOpened             stop            acknowledged, or time is up
///  ┌─────────┐─────▶┌─────────┐───────────▶┌──────┐─────────▶┌─────────┐──────────────▶┌─────────┐
///  │ waiting │      │ opening │            │ open │          │ closing │               │ stopped │
///  └─────────┘◀─────└─────────┘            └──────┘          └─────────┘               └─────────┘
///       ▲  linkLost, time is up               │ linkLost, nothing acknowledged
///       └─────────────────────────────────────┘
/// ```
///
/// The machine performs no I/O and reads no clock. Every method names something that happened and returns what to do.
/// `observed` must be called about once a second, whatever else happens: this is also how time passes.
///
/// A gateway publishes a meter that is wanted here, unless another host has it, and announces it with its first
/// reading. A meter's own topics do not name the gateway, so that the host that has it next can continue them.
package struct BridgeMachine: Sendable {
    /// The machine's settings. Durations are on the boot-time clock.
    package struct Settings: Hashable, Sendable {
        package var topics: BrokerTopics
        /// The program's version.
        package var version: String
        /// Former ids of this host's meters. What the broker keeps under them is cleared.
        package var formerMeters: [MeterID] = []
        /// How often to publish a meter's reading.
        package var interval = Duration.seconds(5)
        package var backlog = Backlog.Limits()
        /// How long an attempt may take, including name, route, TLS and the broker's answer.
        package var openTimeout = Duration.seconds(30)
        /// How long a broker may confirm nothing before it is given up.
        package var answerTimeout = Duration.seconds(30)
        /// How long a link must last for the next attempt after it to come soon.
        package var stableAfter = Duration.seconds(30)
        /// How long the last message to the broker may take.
        package var goodbyeTimeout = Duration.seconds(2)
        /// How often to publish again what others may have overwritten in the meantime.
        package var refreshInterval = Duration.seconds(60)
        /// How soon to do so the first time: the meter's former host publishes its last message within a second or two,
        /// and the broker keeps that.
        package var firstRefresh = Duration.seconds(5)
        /// Home Assistant's message that it has started counts once in this time.
        package var birthInterval = Duration.seconds(5)
        /// Pause before the first attempts, which doubles up to the longest.
        package var shortestWait = Duration.seconds(1)
        package var longestWait = Duration.seconds(60)

        package init(topics: BrokerTopics, version: String) {
            self.topics = topics
            self.version = version
        }
    }

    package enum Action: Hashable, Sendable {
        /// Connect. The broker publishes `will` if it loses the connection.
        case open(will: BrokerMessage)
        /// End the link or the attempt; nothing more may come of it.
        case close
        case subscribe([String])
        case publish(PacketNumber, BrokerMessage)
        case perform(RequestNumber, MeterRequest, MeterID)
        case tell(Notice)
        /// After `stop`: this was the last action.
        case finished
    }

    /// An event worth a line in the log.
    package enum Notice: Hashable, Sendable {
        /// - Parameters:
        ///   - outage: how long there was no link; nil for the first one.
        ///   - backlog: number of readings waiting to be sent.
        ///   - dropped: number of readings lost for lack of room since the start.
        case connected(outage: Duration?, backlog: Int, dropped: Int)
        /// - Parameter isNew: whether the cause differs from the last one.
        case lost(cause: BrokerTrouble, retryIn: Duration, isNew: Bool)
        case announced(MeterID)
        case removed(MeterID)
        /// Another host has the meter from now on.
        case yielded(MeterID, holder: String?)
        case homeAssistantStarted
        case requested(MeterID, String)
        case requestRefused(key: String, cause: String)
        /// Number of requests since the last such notice that were not even answered, because there were too many at
        /// once.
        case requestsIgnored(Int)
        /// The broker refuses what is published there.
        case publishRefused(topic: String, cause: String)
        /// There is no room for more readings: the oldest are being lost.
        case backlogFull
    }

    enum Link: Hashable, Sendable {
        /// A nil `until` means not started.
        case waiting(until: MonotonicTime?)
        case opening(since: MonotonicTime)
        case open(since: MonotonicTime)
        case closing(until: MonotonicTime, goodbye: PacketNumber?)
        case stopped
    }

    /// What is known about a meter.
    struct Entry: Sendable {
        var meter: BridgedMeter
        /// All quantities that it has reported in this run.
        var quantities = QuantitySet()
        /// Whether this gateway publishes it.
        var isOurs = false
        /// Whether this run ever announced its entities.
        var wasAnnounced = false
        /// What was announced, so that only changes are. Nil if it must be announced again.
        var announced: DeviceDiscovery.Facts?
        var status: MeterPayloads.Status?
        var isOnline: Bool?
        /// When to publish status and availability again.
        var refreshAt: MonotonicTime?
        /// Whether they were published again since the announcement.
        var wasRefreshed = false
        /// The time of the last reading taken.
        var takenAt: MonotonicTime?
        /// The earliest time of the next reading.
        var nextReadingAt: MonotonicTime?
        /// The payload of the last reading.
        var state: [UInt8]?
    }

    let settings: Settings
    let discovery: DeviceDiscovery
    var link = Link.waiting(until: nil)
    var failures = 0
    var lastCause: BrokerTrouble?
    /// Since when there has been no link. Nil before the first.
    var lostAt: MonotonicTime?
    var outbox: Outbox
    var meters: [MeterID: Entry] = [:]
    var readingNumber: UInt64 = 0
    var hasEmptiedFormer = false
    var performing: [RequestNumber: Asked] = [:]
    var nextRequest: RequestNumber = 1
    /// How many more requests are handled before the next tick.
    var requestsLeft = Self.requestsPerTick
    var ignoredRequests = 0
    var lastBirth: MonotonicTime?
    /// Home Assistant has started, but it is too soon to publish everything again.
    var owesAnnouncement = false
    /// Number of readings lost before the present outage.
    var droppedBefore = 0
    var hasToldOverflow = false
    var refusedTopics: Set<String> = []
    /// Number of announcements, readings and statuses encoded since the start: never more than changes.
    package internal(set) var payloadsMade = 0
    /// Number of messages confirmed by the broker since the start.
    package internal(set) var publishedCount = 0
    /// Number of messages refused by the broker since the start.
    package internal(set) var refusedCount = 0
    /// Number of links that came up since the start.
    package internal(set) var linksOpened = 0

    package init(_ settings: Settings) {
        self.settings = settings
        discovery = DeviceDiscovery(topics: settings.topics, version: settings.version, interval: settings.interval)
        outbox = Outbox(backlog: Backlog(limits: settings.backlog))
    }

    // MARK: State

    package var isConnected: Bool { if case .open = link { true } else { false } }
    /// Number of readings waiting for the broker.
    package var backlogCount: Int { outbox.backlog.count }
    /// Number of readings lost for lack of room since the start.
    package var backlogDropped: Int { outbox.backlog.dropped }
    /// Why there is no link. Nil while there is one, and until the first attempt has ended.
    package var trouble: BrokerTrouble? { isConnected ? nil : lastCause }
    /// Number of messages that are waiting to be sent, to be confirmed, or for the broker to come back.
    package var queueCount: Int { outbox.count }
    /// Number of readings and responses given up for lack of room since the start.
    package var droppedCount: Int { outbox.backlog.dropped + outbox.responsesDropped }
    /// Number of topics for which the broker refused something since the link came up.
    package var refusedTopicsCount: Int { refusedTopics.count }

    // MARK: Events of the link

    package mutating func start(at now: MonotonicTime) -> [Action] {
        guard link == .waiting(until: nil) else { return [] }
        return open(at: now)
    }

    private mutating func open(at now: MonotonicTime) -> [Action] {
        link = .opening(since: now)
        return [.open(will: bridgeMessage(.offline))]
    }

    func bridgeMessage(_ availability: Availability) -> BrokerMessage {
        BrokerMessage(settings.topics.bridge, availability.rawValue, isRetained: true)
    }

    /// The broker accepted the connection.
    package mutating func linkOpened(at now: MonotonicTime) -> [Action] {
        guard case .opening = link else { return [] }
        link = .open(since: now)
        linksOpened += 1
        lastCause = nil
        refusedTopics = []
        let notice = Notice.connected(
            outage: lostAt.map { now - $0 }, backlog: outbox.backlog.count, dropped: outbox.backlog.dropped)
        (droppedBefore, hasToldOverflow) = (outbox.backlog.dropped, false)
        outbox.put(bridgeMessage(.online))
        return [
            .tell(notice), .subscribe([settings.topics.allRequests, settings.topics.homeAssistantStatus]),
        ] + announceAll(at: now) + emptyFormer() + send(at: now)
    }

    /// The link is lost, or the attempt failed.
    ///
    /// - Parameters:
    ///   - cause: why it ended.
    ///   - random: random bits, for the jitter of the next attempt.
    package mutating func linkLost(_ cause: BrokerTrouble, at now: MonotonicTime, random: UInt64) -> [Action] {
        switch link {
        case .waiting, .stopped: return []
        case .closing:
            link = .stopped
            return [.finished]
        case .opening: break
        case .open(let since):
            if now - since >= settings.stableAfter { failures = 0 }
            lostAt = now
        }
        outbox.linkLost()
        failures += 1
        let wait = pause(random: random)
        link = .waiting(until: now + wait)
        defer { lastCause = cause }
        return [.tell(.lost(cause: cause, retryIn: wait, isNew: cause != lastCause))]
    }

    /// Doubles up to the longest, spread by a fifth either way: after a power cut many gateways come back at once.
    private func pause(random: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        let wait = min(settings.longestWait, settings.shortestWait * (1 << doublings))
        return wait * (800 + Int(random % 400)) / 1000
    }

    /// The broker has received a message, or refused it.
    ///
    /// - Parameter refusal: the reason, or nil if it was accepted.
    package mutating func acknowledged(
        _ number: PacketNumber, refusal: String? = nil, at now: MonotonicTime
    ) -> [Action] {
        let sent = outbox.acknowledged(number)
        if sent != nil { if refusal == nil { publishedCount += 1 } else { refusedCount += 1 } }
        if case .closing(_, let goodbye) = link {
            guard goodbye == number else { return [] }
            link = .stopped
            return [.close, .finished]
        }
        var actions: [Action] = []
        // Once for each topic and link; there would be a line for every reading otherwise.
        if let sent, let refusal, refusedTopics.count < 100, refusedTopics.insert(sent.topic).inserted {
            actions.append(.tell(.publishRefused(topic: sent.topic, cause: refusal)))
        }
        return actions + send(at: now)
    }

    /// Says goodbye: without it the broker would publish the will. `finished` follows when all is done.
    package mutating func stop(at now: MonotonicTime) -> [Action] {
        switch link {
        case .stopped, .closing: return []
        case .waiting:
            link = .stopped
            return [.finished]
        case .opening:
            link = .stopped
            return [.close, .finished]
        case .open:
            outbox.linkLost()
            outbox.put(bridgeMessage(.offline))
            guard let (number, message) = outbox.next(at: now) else {
                link = .stopped
                return [.close, .finished]
            }
            link = .closing(until: now + settings.goodbyeTimeout, goodbye: number)
            return [.publish(number, message)]
        }
    }

    /// Time has passed.
    mutating func woke(at now: MonotonicTime, random: UInt64) -> [Action] {
        switch link {
        case .waiting(let until):
            guard let until, until <= now else { return [] }
            return open(at: now)
        case .opening(let since):
            guard now - since >= settings.openTimeout else { return [] }
            let seconds = settings.openTimeout.components.seconds
            let cause = BrokerTrouble(
                "the broker did not answer within \(seconds) s",
                next: "are host and port in [mqtt] url right? a firewall may swallow what is sent there")
            return [.close] + linkLost(cause, at: now, random: random)
        case .open:
            guard let oldest = outbox.oldestSent, now - oldest >= settings.answerTimeout else {
                return owesAnnouncement ? birth(at: now) : []
            }
            let seconds = settings.answerTimeout.components.seconds
            let cause = BrokerTrouble(
                "the broker confirmed nothing for \(seconds) s",
                next: "it hangs, or the network does: is there anything in the broker's log?")
            return [.close] + linkLost(cause, at: now, random: random)
        case .closing(let until, _):
            guard until <= now else { return [] }
            link = .stopped
            return [.close, .finished]
        case .stopped:
            return []
        }
    }

    /// Sends whatever may be sent.
    mutating func send(at now: MonotonicTime) -> [Action] {
        guard case .open = link else { return [] }
        var actions: [Action] = []
        while let (number, message) = outbox.next(at: now) { actions.append(.publish(number, message)) }
        return actions
    }
}
