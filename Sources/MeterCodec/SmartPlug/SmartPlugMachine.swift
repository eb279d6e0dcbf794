package import Domain

/// Turns the messages of one meter into readings. Starts when the link to the broker is up.
///
/// ```
///   ┌─────────┐ online, a measurement, or 2 s without news  ┌─────────┐
///   │ WAITING │────────────────────────────────────────────▶│ READING │
///   └─────────┘                                              └─────────┘
///        └──────────────── offline: ends the link ────────────────┘
/// ```
///
/// Each message with a measurement becomes a reading. Quantities of other topics repeat their last value, unless it is
/// older than `maxAge`. A retained message is no measurement, because its age is unknown.
package struct SmartPlugMachine: Sendable {
    package enum Action: Hashable, Sendable {
        case opened
        /// A reading as a line of JSON: quantities by name, `null` for an unknown value.
        case line([UInt8])
        /// The meter cannot be read; the reason is for users.
        case close(String)
    }

    private enum Phase: Sendable {
        case waiting(until: MonotonicTime)
        /// `until` is the time at which `remark` reports that no measurement has arrived; nil after that time or a
        /// measurement.
        case reading(until: MonotonicTime?)
    }

    private let plug: SmartPlugDescription
    private let quantities: [Quantity]
    private var phase: Phase
    private var values: LatestValues
    /// Problem of an open link, and its remedy; nil if there is none.
    package private(set) var remark: String?

    /// Timeout for the retained availability message, which a broker sends right after the subscription.
    private static let availabilityTimeout = Duration.seconds(2)
    /// Longest silence before `remark` reports it; longer than a Shelly's interval of 60 s.
    private static let silenceMax = Duration.seconds(90)
    /// Unix times above this are in milliseconds: in seconds, this would be the year 5138.
    private static let secondsMax = 1e11

    package init(_ plug: SmartPlugDescription, at now: MonotonicTime) {
        self.plug = plug
        values = LatestValues(maxAge: plug.maxAge)
        var quantities: [Quantity] = []
        for value in plug.values where !quantities.contains(value.quantity) { quantities.append(value.quantity) }
        // If the messages contain no power, report it as unknown. Otherwise a program would multiply voltage and
        // current, which is wrong for alternating current.
        if !quantities.contains(.power) { quantities.append(.power) }
        self.quantities = quantities
        phase = .waiting(until: now + (plug.availability == nil ? .zero : Self.availabilityTimeout))
    }

    package var nextWake: MonotonicTime? {
        switch phase {
        case .waiting(let until): until
        case .reading(let until): until
        }
    }

    package mutating func woke(at now: MonotonicTime) -> [Action] {
        guard let due = nextWake, now >= due else { return [] }
        if case .waiting = phase { return open(at: now) }
        phase = .reading(until: nil)
        remark = remark ?? plug.silenceRemedy.map { "\(plug.key) is connected, but publishes no measurement. \($0)" }
        return []
    }

    private mutating func open(at now: MonotonicTime) -> [Action] {
        guard case .waiting = phase else { return [] }
        phase = .reading(until: now + Self.silenceMax)
        return [.opened]
    }

    /// - Parameter wall: this host's system clock.
    package mutating func received(_ message: BrokerMessage, at now: MonotonicTime, _ wall: WallTime) -> [Action] {
        if let availability = plug.availability, message.topic == availability.topic {
            switch Self.word(in: message) {
            case availability.online: return open(at: now)
            case availability.offline:
                return [
                    .close(
                        "\(plug.key) is offline, says \(availability.topic). Is it on, and does it reach its broker?")
                ]
            default: return []
            }
        }
        let places = plug.values.filter { $0.topic == message.topic }
        guard !places.isEmpty, !message.isRetained, isRecent(message, wall) else { return [] }
        var hasMeasurement = false
        var problem: String?
        for place in places {
            guard let found = SmartPlugPayload.found(at: place.path, in: message.payload) else {
                remark = "A message of \(message.topic.visible) is not JSON."
                return []
            }
            switch found {
            case .missing: values.forget(place.quantity)
            case .list(let count):
                problem =
                    "\(plug.key) has \(count) phases: say which one with channel = 0 to \(count - 1) in its [[mqtt.meter]]."
            case .number, .text, .unknown:
                hasMeasurement = true
                values.set(place.quantity, to: found.number.flatMap(place.unit.value(of:)), at: now)
            }
        }
        remark = problem ?? (hasMeasurement ? nil : remark)
        guard hasMeasurement else { return [] }
        let opened = open(at: now)
        phase = .reading(until: nil)
        return opened + [.line(values.line(of: quantities, at: now))]
    }

    /// Returns the availability word: the whole message, or its member `state` as zigbee2mqtt sends it
    /// (zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html, "availability").
    private static func word(in message: BrokerMessage) -> String? {
        let state = SmartPlugPayload.found(at: ["state"], in: message.payload)
        if case .text(let word) = state { return word }
        return state == nil ? message.text : nil
    }

    /// Returns whether the measurement is at most `maxAge` old by the message's own time; true without a readable time.
    private mutating func isRecent(_ message: BrokerMessage, _ wall: WallTime) -> Bool {
        guard let path = plug.timePath, let found = SmartPlugPayload.found(at: path, in: message.payload) else {
            return true
        }
        let time: WallTime? =
            switch found {
            case .number(let number) where (0...1e14).contains(number):
                WallTime(millisecondsSince1970: Int64(number > Self.secondsMax ? number : number * 1000))
            // A text without a UTC offset gives nil, because its time zone is unknown.
            case .text(let text): WallTime(text)
            default: nil
            }
        guard let time, wall > time + plug.maxAge else { return true }
        remark =
            "A message of \(message.topic.visible) was measured at \(time), too long ago: is the device's clock right?"
        return false
    }
}
