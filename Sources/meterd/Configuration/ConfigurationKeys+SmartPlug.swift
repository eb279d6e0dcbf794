import Domain
import HomeAutomation
import MeterCodec

/// Keys of an `[[mqtt.meter]]`, before they are checked against each other.
struct SmartPlugKeys: Sendable {
    var preset: SmartPlugPreset?
    var topic: String?
    var channel: Int?
    var component: String?
    var isPolled = false
    var mac: MACAddress?
    var name: String?
    var connects = true
    var maxAge = SmartPlugDescription.maxAgeDefault
    /// Places of the quantities. An empty topic stands for the meter's topic.
    var values: [Quantity: SmartPlugDescription.Value] = [:]
    var availability: String?
    var online: String?
    var offline: String?
    var time: String?
}

extension ConfigurationKeys {
    static let smartPlugsMax = 32

    static let smartPlug = ConfigurationTable(
        "mqtt.meter", heading: "[[mqtt.meter]]",
        "A smart plug or another meter that publishes through the broker of [mqtt] (Docs/Meters/SMART-PLUG.md). "
            + "Repeatable.",
        defaults: SmartPlugKeys(),
        keys: [
            .init("preset", optional: \.preset, .choice, example: #""tasmota""#, "What publishes: {range}."),
            .init(
                "topic", optional: \.topic, .topicName, example: #""desk""#,
                "Tasmota's Topic, or a whole FullTopic with %prefix%; a Shelly's MQTT prefix."),
            .init("mac", optional: \.mac, .macAddress, example: #""A0:B7:65:00:11:25""#),
            .init("name", optional: \.name, .text, example: #""Desk""#),
            .init("connect", \.connects, .flag),
            .init(
                "poll", \.isPolled, .flag,
                "true: ask Tasmota for each reading. Otherwise it publishes every 300 s (its TelePeriod)."),
            .init(
                "channel", optional: \.channel, .integer(0...15), example: "0",
                "Phase of a Tasmota with several, or relay of a Shelly of the first generation."),
            .init(
                "max-age", \.maxAge, .time(.seconds(1)...(.seconds(3600))),
                "Greatest age of a value in a reading, {range}. An older one is unknown."),
            .init("component", optional: \.component, .text),
            .init("availability", optional: \.availability, .topicName),
            .init("online", optional: \.online, .text), .init("offline", optional: \.offline, .text),
            .init("time", optional: \.time, .text),
        ]
            + SmartPlugFamily.quantities.map { quantity in
                .init(quantity.word, optional: \.values[quantity], .place(of: quantity))
            })

    /// Examples of meters that do not run Tasmota.
    static let otherSmartPlugs = [
        ConfigurationReference.Block(
            heading: "[[mqtt.meter]]", explanation: "A Shelly has components.",
            lines: [
                .init(key: "preset", value: #""shelly""#),
                .init(key: "topic", value: #""shellyplusplugs-80646fd031f8""#),
                .init(key: "component", value: #""pm1:0""#, explanation: "Default: switch:0."),
            ]),
        ConfigurationReference.Block(
            heading: "[[mqtt.meter]]",
            explanation: "Any other publisher is described: where its messages have voltage, current, power, energy, "
                + "temperature, frequency or power_factor.",
            lines: [
                .init(key: "topic", value: #""zigbee2mqtt/lamp""#),
                .init(
                    key: "power", value: #""power""#,
                    explanation: "Names and indices with \".\" between them; \"\": the whole message is the number."),
                .init(
                    key: "energy", value: #"{ path = "energy", unit = "kWh" }"#,
                    explanation: "Or a table with path, unit or factor, and topic if it is another."),
                .init(key: "availability", value: #""zigbee2mqtt/lamp/availability""#),
                .init(key: "online", value: #""online""#), .init(key: "offline", value: #""offline""#),
                .init(
                    key: "time", value: #""last_seen""#,
                    explanation:
                        "Time of measurement: an epoch, or RFC 3339 with an offset. Older messages than max-age "
                        + "are ignored."),
            ]),
    ]
}

extension ConfigurationType<String> {
    /// A topic without wildcards that is not the broker's own (MQTT 5, section 4.7).
    fileprivate static var topicName: Self {
        .text("a topic without # and +") { text in
            (1...200).contains(text.utf8.count) && !text.hasPrefix("$")
                && !text.contains { $0 == "#" || $0 == "+" || $0.isControl }
        }
    }
}

extension ConfigurationType<SmartPlugDescription.Value> {
    fileprivate static func place(of quantity: Quantity) -> Self {
        Self(
            read: { entry throws(ConfigurationError) in
                if case .text(let path) = entry.value { return .init(quantity, topic: "", path: path.steps) }
                let members = try entry.table("a place in quotes, or a table { path = \"…\", unit = \"…\" }")
                for name in members.keys.sorted() where !["path", "unit", "factor", "topic"].contains(name) {
                    throw ConfigurationError(
                        "unknown key \"\(entry.key).\(name.visible)\"",
                        next: "the keys are path, unit, factor, topic")
                }
                func text(_ name: String) throws(ConfigurationError) -> String? {
                    guard let value = members[name] else { return nil }
                    return try ConfigurationEntry(key: "\(entry.key).\(name)", value: value).text()
                }
                var place = Value(quantity, topic: "", path: try text("path")?.steps ?? [])
                if let topic = members["topic"] {
                    place.topic = try ConfigurationType<String>.topicName.read(
                        ConfigurationEntry(key: "\(entry.key).topic", value: topic))
                }
                if let unit = try text("unit") {
                    guard let scaled = ScaledUnit(unit, of: quantity) else {
                        throw ConfigurationError(
                            "\(entry.key).unit cannot be \"\(unit.visible)\"",
                            next: "it takes \(quantity.unit) with µ, m, k or M before it, or use factor")
                    }
                    place.unit = scaled
                }
                switch members["factor"] {
                case nil: break
                case .integer(let number) where number != 0: place.unit = ScaledUnit(factor: Double(number))
                case .number(let number) where number.isFinite && number != 0: place.unit = ScaledUnit(factor: number)
                case .some(let value):
                    throw ConfigurationError(
                        "\(entry.key).factor cannot be \(value.shown)", next: "it takes a number that is not 0")
                }
                if members["unit"] != nil, members["factor"] != nil {
                    throw ConfigurationError("\(entry.key) has unit and factor", next: "keep one of them")
                }
                return place
            }, write: { _ in "" })
    }
}

extension Configuration {
    mutating func add(smartPlug table: [String: DescriptionValue]) throws(ConfigurationError) {
        var keys = SmartPlugKeys()
        try ConfigurationKeys.smartPlug.read(table, prefix: "mqtt.meter.", into: &keys)
        guard let topic = keys.topic else {
            throw ConfigurationError("an [[mqtt.meter]] has no topic", next: "name it, for example topic = \"desk\"")
        }
        let place = "the [[mqtt.meter]] \(topic.visible)"
        let described = table.keys.filter { key in
            SmartPlugFamily.quantities.contains { $0.word == key }
                || ["availability", "online", "offline", "time"].contains(key)
        }.sorted()
        var plug: SmartPlugDescription
        if let preset = keys.preset {
            if let first = described.first {
                throw ConfigurationError(
                    "\(place) has a preset, and \(first) is of no use beside it", next: "keep preset or \(first)")
            }
            let component = keys.component ?? "switch:0"
            let found = preset.description(
                topic, channel: keys.channel, component: component, isPolled: keys.isPolled)
            guard let found else {
                throw ConfigurationError(
                    "\(place) has the component \"\(component.visible)\", which meterd does not know",
                    next: "it takes switch:0, pm1:0, em1:0, em:0, cover:0 or light:0, or another number")
            }
            plug = found
        } else {
            plug = try Self.described(keys, topic, place)
        }
        if let component = keys.component, keys.preset != .shellyStatus {
            throw ConfigurationError(
                "\(place) has the component \(component.visible), and is no preset = \"shelly\"",
                next: "take component away")
        }
        if keys.isPolled, plug.request == nil {
            throw ConfigurationError(
                "\(place) has poll = true, and only Tasmota answers questions", next: "take poll away")
        }
        plug.maxAge = keys.maxAge
        let own = mqtt.baseTopic + "/"
        if let loop = plug.topics.first(where: { $0.hasPrefix(own) }) {
            throw ConfigurationError(
                "\(place) reads \(loop.visible), which meterd itself publishes",
                next: "name the topic of the device")
        }
        let port = DeclaredPort(plug.link, model: plug.model, id: keys.mac.map(MeterID.mac), name: keys.name)
        guard !ports.contains(where: { $0.declared.link == port.link || port.id != nil && $0.declared.id == port.id })
        else {
            throw ConfigurationError(
                "two meters have the topic or the mac of \(place)", next: "take one of them away")
        }
        smartPlugs.append(plug)
        ports.append(Port(declared: port, connects: keys.connects))
    }

    private static func described(
        _ keys: SmartPlugKeys, _ topic: String, _ place: String
    ) throws(ConfigurationError) -> SmartPlugDescription {
        var values = SmartPlugFamily.quantities.compactMap { keys.values[$0] }
        for index in values.indices where values[index].topic.isEmpty { values[index].topic = topic }
        guard values.contains(where: { [.voltage, .current, .power, .energy].contains($0.quantity) }) else {
            throw ConfigurationError(
                "\(place) has neither a preset nor a voltage, current, power or energy",
                next: "say where its messages have one, for example power = \"power\", or give it a preset")
        }
        guard keys.channel == nil else {
            throw ConfigurationError(
                "\(place) has a channel and no preset", next: "write the index into the places instead")
        }
        var plug = SmartPlugDescription(key: topic, values: values)
        plug.availability = keys.availability.map {
            .init(topic: $0, online: keys.online ?? "online", offline: keys.offline ?? "offline")
        }
        plug.timePath = keys.time?.steps
        return plug
    }
}

extension String {
    fileprivate var steps: [String] { split(separator: ".").map(String.init) }
}
