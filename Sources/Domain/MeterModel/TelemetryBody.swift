/// Telemetry other than readings: `told` in JSON. `watch --json` prints it after a change.
package struct TelemetryBody: Codable, Hashable, Sendable {
    /// Values by key, as in Docs/Meters; null while unknown.
    package var details: [String: Value] = [:]
    /// Empty for models without data groups.
    package var groups: [Group] = []

    package init() {}

    package struct Group: Codable, Hashable, Sendable {
        package var index: Int
        package var charge_mAh: Double
        package var energy_Wh: Double

        package init(index: Int, charge_mAh: Double, energy_Wh: Double) {
            self.index = index
            self.charge_mAh = charge_mAh
            self.energy_Wh = energy_Wh
        }
    }

    package enum Value: Hashable, Sendable {
        case number(Double)
        case text(String)
        case flag(Bool)
        case unknown
    }
}

extension TelemetryBody.Value: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .unknown
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .unknown: try container.encodeNil()
        }
    }
}

extension TelemetryBody.Value: CustomStringConvertible {
    package var description: String {
        switch self {
        case .number(let value): value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
        case .text(let value): value
        case .flag(let value): value ? "yes" : "no"
        case .unknown: "–"
        }
    }
}
