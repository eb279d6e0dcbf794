/// Alert rules of this host, each a binary sensor of its meter's device. They remain on this host if another host takes
/// the meter, so they are announced separately.
struct PublishedAlerts: Sendable {
    /// Seconds for which a momentary alert is shown.
    static let momentSeconds = 30

    private struct Told: Sendable {
        var alert: BridgedAlert
        var isAnnounced = false
        var isTold = false
    }

    private let topics: BrokerTopics
    private let version: String
    private var alerts: [Int64: Told] = [:]
    /// Removed rules whose messages the broker still retains.
    private var gone: Set<Int64> = []

    init(_ settings: BridgeMachine.Settings) {
        topics = settings.topics
        version = settings.version
    }

    mutating func observed(_ seen: [BridgedAlert], isConnected: Bool, to outbox: inout Outbox) {
        guard !seen.isEmpty || !alerts.isEmpty else { return }
        for alert in seen {
            let before = alerts[alert.number]
            var told = before ?? Told(alert: alert)
            told.isAnnounced = told.isAnnounced && told.alert.isAnnounced(as: alert)
            // Do not report an event from before this program's start.
            let isStale = before == nil && alert.isMomentary
            told.isTold = isStale || told.isTold && told.alert == alert
            told.alert = alert
            alerts[alert.number] = told
        }
        let present = Set(seen.map(\.number))
        for number in alerts.keys where !present.contains(number) {
            alerts[number] = nil
            gone.insert(number)
        }
        if isConnected { tell(to: &outbox) }
    }

    mutating func announceAll(to outbox: inout Outbox) {
        for number in alerts.keys {
            alerts[number]?.isAnnounced = false
            if alerts[number]?.alert.isMomentary == false { alerts[number]?.isTold = false }
        }
        tell(to: &outbox)
    }

    private mutating func tell(to outbox: inout Outbox) {
        for number in gone.sorted() {
            outbox.put(BrokerMessage(topics.alertDiscovery(number), [], isRetained: true))
            outbox.put(BrokerMessage(topics.alert(number), [], isRetained: true))
        }
        gone = []
        for number in alerts.keys.sorted() {
            guard var told = alerts[number] else { continue }
            if !told.isAnnounced { outbox.put(announcement(of: told.alert)) }
            if !told.isTold { outbox.put(state(of: told.alert)) }
            (told.isAnnounced, told.isTold) = (true, true)
            alerts[number] = told
        }
    }

    // MARK: Messages

    private func state(of alert: BridgedAlert) -> BrokerMessage {
        let isOn = alert.isMomentary ? alert.count > 0 : alert.isRaised
        let payload = JSONValue.object([
            .init("state", .string(isOn ? "ON" : "OFF")), .init("name", .text(alert.name)),
            .init("condition", .string(alert.condition)), .init("meter", .string("\(alert.meter)")),
            .init("raised", .text(alert.raisedAt?.description)), .init("cleared", .text(alert.clearedAt?.description)),
            .init("count", .int(Int(alert.count))), .init("value", alert.value.map { .number($0) } ?? .null),
        ])
        return BrokerMessage(topics.alert(alert.number), payload.bytes, isRetained: !alert.isMomentary)
    }

    /// Format: <https://www.home-assistant.io/integrations/binary_sensor.mqtt/>.
    private func announcement(of alert: BridgedAlert) -> BrokerMessage {
        let id = "\(topics.gateway)_alert_\(alert.number)"
        let payload = JSONValue.members([
            ("name", .string(alert.name ?? alert.condition)), ("unique_id", .string(id)),
            ("device_class", .string("problem")), ("state_topic", .string(topics.alert(alert.number))),
            ("value_template", .string("{{ value_json.state }}")),
            ("json_attributes_topic", .string(topics.alert(alert.number))),
            ("off_delay", alert.isMomentary ? .int(Self.momentSeconds) : nil),
            ("availability", EntityMaker.availability([topics.bridge])),
            ("device", .members([("identifiers", .array([.string(alert.meter.homeAssistantID)]))])),
            (
                "origin",
                .members([("name", .string("MeterGateway")), ("sw_version", .string(version))])
            ),
            ("qos", .int(1)),
        ])
        return BrokerMessage(topics.alertDiscovery(alert.number), payload.bytes, isRetained: true)
    }
}

extension BridgedAlert {
    fileprivate func isAnnounced(as other: BridgedAlert) -> Bool {
        name == other.name && condition == other.condition && meter == other.meter && isMomentary == other.isMomentary
    }
}
