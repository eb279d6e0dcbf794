/// Makes a meter's Home Assistant entities.
///
/// Units, device classes and state classes follow <https://developers.home-assistant.io/docs/core/entity/sensor>.
struct EntityMaker {
    let meter: BridgedMeter
    let topics: BrokerTopics
    /// Seconds until a value expires.
    let expiresAfter: Int

    func sensor(_ quantity: Quantity) -> JSONValue.Member {
        let traits = Traits(quantity)
        let key = quantity.word
        return .init(
            key,
            .members([
                ("platform", .string("sensor")),
                ("unique_id", .string("\(meter.id.homeAssistantID)_\(key)")),
                ("name", .string(traits.name)),
                ("state_topic", .string(topics.state(meter.id))),
                // The template renders null as None, Home Assistant's value for unknown.
                ("value_template", .string("{{ value_json.\(quantity.key) }}")),
                ("device_class", traits.deviceClass.map { .string($0) }),
                ("state_class", traits.stateClass.map { .string($0) }),
                ("last_reset_value_template", traits.isReset ? .string("{{ value_json.counted_since }}") : nil),
                ("unit_of_measurement", quantity.unit.isEmpty ? nil : .string(quantity.unit)),
                ("suggested_display_precision", traits.digits.map { .int($0) }),
                ("entity_category", traits.isDiagnostic ? .string("diagnostic") : nil),
                ("expire_after", .int(expiresAfter)),
            ]))
    }

    /// Connection state, with the status as attributes. Available even without data from the meter.
    var status: JSONValue.Member {
        .init(
            "status",
            .members([
                ("platform", .string("sensor")),
                ("unique_id", .string("\(meter.id.homeAssistantID)_status")),
                ("name", .string("Status")),
                ("device_class", .string("enum")),
                ("options", .array(ConnectionState.allCases.map { .string($0.rawValue) })),
                ("state_topic", .string(topics.status(meter.id))),
                ("value_template", .string("{{ value_json.state }}")),
                ("json_attributes_topic", .string(topics.status(meter.id))),
                ("entity_category", .string("diagnostic")),
                ("availability", Self.availability([topics.bridge])),
            ]))
    }

    var connection: JSONValue.Member {
        .init(
            "connection",
            .members([
                ("platform", .string("switch")),
                ("unique_id", .string("\(meter.id.homeAssistantID)_connection")),
                ("name", .string("Connection")),
                ("state_topic", .string(topics.status(meter.id))),
                ("value_template", .string("{{ 'connect' if value_json.wanted else 'disconnect' }}")),
                ("payload_on", .string("connect")),
                ("payload_off", .string("disconnect")),
                ("availability", Self.availability([topics.bridge])),
            ]))
    }

    /// Nil for commands that clear counters, because a mistake would lose data (the request topic accepts them). Nil
    /// also for commands that draw current or supply a voltage, which may not be sent through a broker.
    func command(_ ability: BridgedMeter.Ability) -> JSONValue.Member? {
        switch ability.kind.consequence {
        case .destroys, .draws, .supplies: return nil
        case .switches, nil: break
        }
        let key = ability.kind.rawValue.replacingDashes
        let common: [(String, JSONValue?)] = [
            ("unique_id", .string("\(meter.id.homeAssistantID)_\(key)")),
            ("name", .string(ability.kind.title)),
            ("entity_category", .string("config")),
        ]
        guard let numbers = ability.numbers else {
            return .init(
                key,
                .members(
                    [("platform", .string("button"))] + common + [("payload_press", .string(ability.kind.rawValue))]))
        }
        return .init(
            key,
            .members(
                [("platform", .string("number"))] + common + [
                    ("command_template", .string("\(ability.kind.rawValue) {{ value | int }}")),
                    ("min", .int(numbers.lowerBound)), ("max", .int(numbers.upperBound)),
                    ("step", .int(ability.step)), ("mode", .string("box")),
                ]))
    }

    static func availability(_ topics: [String]) -> JSONValue {
        .array(topics.map { .object([.init("topic", .string($0))]) })
    }
}

extension EntityMaker {
    private struct Traits {
        var name: String
        var deviceClass: String?
        var stateClass: String? = "measurement"
        var digits: Int?
        var isDiagnostic = false
        /// Whether Home Assistant receives the start of the count as the last reset. Otherwise it mistakes a reset of a
        /// total for reverse flow (home-assistant/core homeassistant/components/mqtt/sensor.py and its pull request
        /// 54644).
        var isReset = false

        init(_ quantity: Quantity) {
            switch quantity {
            case .voltage: (name, deviceClass, digits) = ("Voltage", "voltage", 3)
            case .current: (name, deviceClass, digits) = ("Current", "current", 3)
            case .power: (name, deviceClass, digits) = ("Power", "power", 3)
            // Only a reset lowers the gateway's own total, and begins a new cycle, as total_increasing expects.
            case .energy: (name, deviceClass, stateClass, digits) = ("Energy", "energy", "total_increasing", 3)
            // Home Assistant has no device class for an electric charge.
            case .charge: (name, stateClass, digits) = ("Charge", "total_increasing", 0)
            case .temperature: (name, deviceClass, digits) = ("Temperature", "temperature", 0)
            case .dataPlus: (name, deviceClass, digits) = ("D+", "voltage", 2)
            case .dataMinus: (name, deviceClass, digits) = ("D−", "voltage", 2)
            case .resistance: (name, digits) = ("Resistance", 2)
            case .cc1: (name, deviceClass, digits) = ("CC1", "voltage", 2)
            case .cc2: (name, deviceClass, digits) = ("CC2", "voltage", 2)
            case .frequency: (name, deviceClass, digits) = ("Frequency", "frequency", 1)
            case .powerFactor: (name, deviceClass, digits) = ("Power factor", "power_factor", 2)
            case .ratio: (name, digits) = ("Ratio", 3)
            case .supplyVoltage: (name, deviceClass, digits) = ("Supply voltage", "voltage", 2)
            case .price: (name, stateClass) = ("Price", nil)
            case .duration: (name, deviceClass, stateClass) = ("Counting for", "duration", "total_increasing")
            // The state class is not total_increasing, because reverse flow lowers the value.
            case .countedEnergy:
                (name, deviceClass, stateClass, digits) = ("Energy, counted by meterd", "energy", "total", 3)
            case .countedCharge: (name, stateClass, digits) = ("Charge, counted by meterd", "total", 0)
            }
            isReset = quantity == .countedEnergy || quantity == .countedCharge
            switch quantity {
            case .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage, .price, .duration: isDiagnostic = true
            default: break
            }
        }
    }
}

extension MeterCommand.Kind {
    /// Name for users: `Next screen` for `next-screen`.
    fileprivate var title: String {
        let words = rawValue.split(separator: "-").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}

extension String {
    fileprivate var replacingDashes: String { String(map { $0 == "-" ? "_" : $0 }) }
}
