package import Domain

extension MeterFamily {
    /// Smart plugs and other meters that publish their measurements through an MQTT broker.
    package static let smartPlug = MeterFamily("smart-plug", of: MeterMaker("smart-plug"))
}

extension ModelName {
    /// A device with Tasmota that publishes by itself.
    package static let tasmota = ModelName("tasmota", of: .smartPlug, displayName: "Tasmota")
    /// A device with Tasmota that meterd asks for each reading.
    package static let tasmotaPolled = ModelName("tasmota-polled", of: .smartPlug, displayName: "Tasmota (polled)")
    package static let shelly = ModelName("shelly", of: .smartPlug, displayName: "Shelly")
    /// A publisher that a user describes.
    package static let mqttMeter = ModelName("mqtt", of: .smartPlug, displayName: "MQTT")
}

/// Meters behind a broker (Docs/Meters/SMART-PLUG.md). `SmartPlugMachine` turns their messages into lines of JSON, which the
/// driver decodes.
package struct SmartPlugFamily: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .smartPlug }
    package var models: [ModelName] { [.tasmota, .tasmotaPolled, .shelly, .mqttMeter] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        guard transport == .network, model.family == .smartPlug else { return nil }
        return LineDriver(model: model, Self.lines(of: model), startsMidLine: false)
    }

    package var decoders: [NamedDecoder] {
        models.map { model in
            NamedDecoder(model.rawValue) { LineDecoder(Self.lines(of: model), enforcesCheck: $0) }
        }
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { Self.lines(of: model).ranges }

    /// Quantities that a message may contain.
    package static let quantities: [Quantity] = [
        .voltage, .current, .power, .energy, .temperature, .frequency, .powerFactor,
    ]

    /// Returns the description of a model's lines. Its interval is that of the model's messages or requests.
    package static func lines(of model: ModelName) -> LineDescription {
        var lines = LineDescription.named(quantities, each: .seconds(60))
        lines.settle = .zero
        switch model {
        // Default of `TelePeriod` (tasmota.github.io/docs/Commands, "TelePeriod").
        case .tasmota: lines.interval = .seconds(300)
        case .tasmotaPolled:
            (lines.interval, lines.shortestInterval) = (.seconds(2), .seconds(1))
            lines.request = Array("status\n".utf8)
        // A Shelly sends its status at each change, and its energy each minute.
        default: break
        }
        return lines
    }
}
