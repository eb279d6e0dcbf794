package enum TelemetryKind: Hashable, Sendable {
    case number, text, flag

    /// Nil for an unknown value.
    init?(_ value: TelemetryBody.Value) {
        switch value {
        case .number: self = .number
        case .text: self = .text
        case .flag: self = .flag
        case .unknown: return nil
        }
    }
}

extension EntityMaker {
    /// Telemetry other than readings is not measured, so the sensor is diagnostic and has no statistics.
    ///
    /// A state has at most 255 characters (<https://developers.home-assistant.io/docs/core/entity#generic-properties>
    /// describes states; the limit is `MAX_LENGTH_STATE_STATE` in homeassistant/const.py), so longer texts are cut.
    /// `None` means unknown for a sensor and for a binary sensor
    /// (<https://www.home-assistant.io/integrations/sensor.mqtt/>,
    /// <https://www.home-assistant.io/integrations/binary_sensor.mqtt/>).
    func sensor(told key: String, _ kind: TelemetryKind) -> JSONValue.Member {
        let value = "value_json.told.details.\(key)"
        let unit = TelemetryUnit(key)
        return .init(
            "told_\(key)",
            .members([
                ("platform", .string(kind == .flag ? "binary_sensor" : "sensor")),
                ("unique_id", .string("\(meter.id.homeAssistantID)_told_\(key)")),
                ("name", .string(unit.name)),
                ("state_topic", .string(topics.state(meter.id))),
                ("value_template", .string(template(value, kind))),
                ("device_class", kind == .number ? unit.deviceClass.map { .string($0) } : nil),
                ("unit_of_measurement", kind == .number ? unit.unit.map { .string($0) } : nil),
                ("entity_category", .string("diagnostic")),
                ("expire_after", .int(expiresAfter)),
            ]))
    }

    private func template(_ value: String, _ kind: TelemetryKind) -> String {
        // `told` is missing while the meter sends no telemetry.
        let isKnown = "value_json.told is defined and \(value) is defined and \(value) is not none"
        return switch kind {
        case .number: "{{ \(value) if \(isKnown) else None }}"
        case .text: "{{ \(value)[:255] if \(isKnown) else None }}"
        case .flag: "{{ ('ON' if \(value) else 'OFF') if \(isKnown) else None }}"
        }
    }
}

/// Name and unit in a key, as in `Quantity.key`: `recorder_duration_s` is the recorder duration in seconds.
private struct TelemetryUnit {
    var name: String
    var unit: String?
    var deviceClass: String?

    private static let units: [String: (unit: String, deviceClass: String?)] = [
        "V": ("V", "voltage"), "A": ("A", "current"), "W": ("W", "power"), "Wh": ("Wh", "energy"),
        "mWh": ("mWh", "energy"),
        "mAh": ("mAh", nil), "s": ("s", "duration"), "min": ("min", "duration"), "C": ("°C", "temperature"),
    ]

    init(_ key: String) {
        var words = key.split(separator: "_").map(String.init)
        if words.count > 1, let last = words.last, let unit = Self.units[last] {
            (self.unit, deviceClass) = (unit.unit, unit.deviceClass)
            words.removeLast()
        }
        let text = words.joined(separator: " ")
        name = text.prefix(1).uppercased() + text.dropFirst()
    }
}
