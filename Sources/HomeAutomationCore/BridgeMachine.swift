package import MeterModel

/// Numbers the messages of one machine, so that their acknowledgements are known.
package typealias PacketNumber = UInt64
/// Numbers the requests of one machine, so that their outcomes are known.
package typealias RequestNumber = UInt64

/// Tells a broker of the meters, and hears what is asked of them.
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
/// `observed` is to be called about once a second, whatever else happens: it is also how time passes.
///
/// A gateway speaks for a meter that is wanted here, unless another host has it, and announces it with its first reading.
/// What is a meter's own goes to topics that do not name the gateway, so that whoever has it next goes on with them.
package struct BridgeMachine: Sendable {
    /// How it is set. Durations are on the boot-time clock.
    package struct Settings: Hashable, Sendable {
        package var topics: BrokerTopics
        /// Of the program.
        package var version: String
        /// Ids that meters of this host had before. What the broker keeps under them is emptied.
        package var formerMeters: [MeterID] = []
        /// How often a meter's reading is published.
        package var interval = Duration.seconds(5)
        package var backlog = Backlog.Limits()
        /// How long an attempt may take, with name, route, TLS and the broker's word.
        package var openTimeout = Duration.seconds(30)
        /// A broker that confirms nothing for so long is given up.
        package var answerTimeout = Duration.seconds(30)
        /// A link that lasted so long was a good one: the next attempt after it is made soon.
        package var stableAfter = Duration.seconds(30)
        /// The last word to the broker may take so long.
        package var goodbyeTimeout = Duration.seconds(2)
        /// What others may have overwritten meanwhile is told again so often.
        package var refreshInterval = Duration.seconds(60)
        /// The first time so soon: the host that had the meter before says its last word within a second or two, and what
        /// it says is kept by the broker.
        package var firstRefresh = Duration.seconds(5)
        /// Home Assistant's word that it has started counts once in so long.
        package var birthInterval = Duration.seconds(5)
        /// How long to wait before the first attempts: doubling up to the greatest.
        package var shortestWait = Duration.seconds(1)
        package var longestWait = Duration.seconds(60)

        package init(topics: BrokerTopics, version: String) {
            self.topics = topics
            self.version = version
        }
    }

    package enum Action: Hashable, Sendable {
        /// Connect. The broker is to say `will` once it loses us.
        case open(will: BrokerMessage)
        /// Cut the link, or the attempt; nothing more is to come of it.
        case close
        case subscribe([String])
        case publish(PacketNumber, BrokerMessage)
        case perform(RequestNumber, MeterRequest, MeterID)
        case tell(Notice)
        /// After `stop`: that was the last.
        case finished
    }

    /// What is worth a line in the log.
    package enum Notice: Hashable, Sendable {
        /// - Parameters:
        ///   - outage: how long there was no link; nil at the first.
        ///   - backlog: readings that wait to be sent.
        ///   - dropped: readings that were lost for want of room, since the start.
        case connected(outage: Duration?, backlog: Int, dropped: Int)
        /// - Parameter isNew: the cause is another than last time.
        case lost(cause: BrokerTrouble, retryIn: Duration, isNew: Bool)
        case announced(MeterID)
        case removed(MeterID)
        /// Another host has the meter from now on.
        case yielded(MeterID, holder: String?)
        case homeAssistantStarted
        case requested(MeterID, String)
        case requestRefused(key: String, cause: String)
        /// So many requests were not even answered, as there were too many at once, since the last such notice.
        case requestsIgnored(Int)
        /// The broker does not take what is published there.
        case publishRefused(topic: String, cause: String)
        /// There is no room for more readings: the oldest are lost.
        case backlogFull
    }

    enum Link: Hashable, Sendable {
        /// `until` nil means not started.
        case waiting(until: MonotonicTime?)
        case opening(since: MonotonicTime)
        case open(since: MonotonicTime)
        case closing(until: MonotonicTime, goodbye: PacketNumber?)
        case stopped
    }

    /// What is known of a meter.
    struct Entry: Sendable {
        var meter: BridgedMeter
        /// All that it ever reported in this run.
        var quantities = QuantitySet()
        /// This gateway speaks for it.
        var isOurs = false
        /// Its entities were once told of by this run.
        var wasAnnounced = false
        /// What was told, so that only changes are; nil means to be told anew.
        var announced: DeviceDiscovery.Facts?
        var status: MeterPayloads.Status?
        var isOnline: Bool?
        /// When status and availability are told again.
        var refreshAt: MonotonicTime?
        /// They were told again since it was announced.
        var wasRefreshed = false
        /// The time of the reading that was last taken.
        var takenAt: MonotonicTime?
        /// The next reading is taken no earlier.
        var nextReadingAt: MonotonicTime?
        /// The payload of that reading.
        var state: [UInt8]?
    }

    let settings: Settings
    let discovery: DeviceDiscovery
    var link = Link.waiting(until: nil)
    var failures = 0
    var lastCause: BrokerTrouble?
    /// Since when there is no link; nil before the first.
    var lostAt: MonotonicTime?
    var outbox: Outbox
    var meters: [MeterID: Entry] = [:]
    var readingNumber: UInt64 = 0
    var hasEmptiedFormer = false
    var performing: [RequestNumber: Asked] = [:]
    var nextRequest: RequestNumber = 1
    /// How many more are looked at before the next tick.
    var requestsLeft = Self.requestsPerTick
    var ignoredRequests = 0
    var lastBirth: MonotonicTime?
    /// Home Assistant said that it started, and it is not time yet to tell it everything.
    var owesAnnouncement = false
    /// Readings that were lost before the present outage.
    var droppedBefore = 0
    var hasToldOverflow = false
    var refusedTopics: Set<String> = []
    /// Announcements, readings and statuses that were put into bytes, since the start: never more than change.
    package internal(set) var payloadsMade = 0
    /// Messages that the broker confirmed, since the start.
    package internal(set) var publishedCount = 0
    /// Messages that the broker did not take, since the start.
    package internal(set) var refusedCount = 0
    /// Links that went up, since the start.
    package internal(set) var linksOpened = 0

    package init(_ settings: Settings) {
        self.settings = settings
        discovery = DeviceDiscovery(topics: settings.topics, version: settings.version, interval: settings.interval)
        outbox = Outbox(backlog: Backlog(limits: settings.backlog))
    }

    // MARK: How it is

    package var isConnected: Bool { if case .open = link { true } else { false } }
    /// Readings that wait for the broker.
    package var backlogCount: Int { outbox.backlog.count }
    /// Readings that were lost for want of room, since the start.
    package var backlogDropped: Int { outbox.backlog.dropped }
    /// Why there is no link; nil while there is one, and before the first attempt ended.
    package var trouble: BrokerTrouble? { isConnected ? nil : lastCause }
    /// Everything that waits for the broker: to be sent, to be confirmed, or until it is back.
    package var queueCount: Int { outbox.count }
    /// What was given up for want of room, since the start: readings, and answers to requests.
    package var droppedCount: Int { outbox.backlog.dropped + outbox.responsesDropped }
    /// Topics that the broker did not take something for, since the link went up.
    package var refusedTopicsCount: Int { refusedTopics.count }

    // MARK: What happens to the link

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

    /// The broker took us.
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

    /// There is no link, or the attempt failed.
    ///
    /// - Parameters:
    ///   - cause: what it ended with.
    ///   - dice: random bits, for the jitter of the next attempt.
    package mutating func linkLost(_ cause: BrokerTrouble, at now: MonotonicTime, dice: UInt64) -> [Action] {
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
        let wait = pause(dice: dice)
        link = .waiting(until: now + wait)
        defer { lastCause = cause }
        return [.tell(.lost(cause: cause, retryIn: wait, isNew: cause != lastCause))]
    }

    /// Doubling, never above the greatest, spread by a fifth either way: after a power cut many gateways come back at once.
    private func pause(dice: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        let wait = min(settings.longestWait, settings.shortestWait * (1 << doublings))
        return wait * (800 + Int(dice % 400)) / 1000
    }

    /// The broker has a message, or refused it.
    ///
    /// - Parameter refusal: why it does not take it; nil means it took it.
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
        // Once a topic and link; there are more readings than anybody wants such lines.
        if let sent, let refusal, refusedTopics.count < 100, refusedTopics.insert(sent.topic).inserted {
            actions.append(.tell(.publishRefused(topic: sent.topic, cause: refusal)))
        }
        return actions + send(at: now)
    }

    /// Says goodbye: without a word from us the broker would say the will. `finished` comes when all is done.
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

    /// Time passed.
    mutating func woke(at now: MonotonicTime, dice: UInt64) -> [Action] {
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
            return [.close] + linkLost(cause, at: now, dice: dice)
        case .open:
            guard let oldest = outbox.oldestSent, now - oldest >= settings.answerTimeout else {
                return owesAnnouncement ? birth(at: now) : []
            }
            let seconds = settings.answerTimeout.components.seconds
            let cause = BrokerTrouble(
                "the broker confirmed nothing for \(seconds) s",
                next: "it hangs, or the network does: is there anything in the broker's log?")
            return [.close] + linkLost(cause, at: now, dice: dice)
        case .closing(let until, _):
            guard until <= now else { return [] }
            link = .stopped
            return [.close, .finished]
        case .stopped:
            return []
        }
    }

    /// Whatever may go.
    mutating func send(at now: MonotonicTime) -> [Action] {
        guard case .open = link else { return [] }
        var actions: [Action] = []
        while let (number, message) = outbox.next(at: now) { actions.append(.publish(number, message)) }
        return actions
    }
}
