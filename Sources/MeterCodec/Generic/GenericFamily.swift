package import Domain

extension MeterFamily {
    /// Boards that print measurements as lines of text, in formats that users describe.
    package static let generic = MeterFamily("generic", of: MeterMaker("generic"))
}

extension ModelName {
    /// A board that prints `V=5.02;A=0.31`, which needs no description.
    package static let generic = ModelName("generic", of: .generic, displayName: "Generic")
    /// A board with ESPHome, whose sensor values arrive as lines over the network.
    package static let esphome = ModelName("esphome", of: .generic, displayName: "ESPHome")
    /// A meter that meterd computes from others (Docs/Meters/COMPUTED.md). Its results are decoded as lines, too.
    package static let byFormula = ModelName("computed", of: .generic, displayName: "Computed")
}

/// Boards that print lines (Docs/Meters/GENERIC.md): models without a description, and those that users describe.
package struct GenericFamily: DescribableFamily {
    private var described: [Described] = []

    private struct Described: Sendable {
        var model: ModelName
        var description: LineDescription
    }

    package init() {}

    /// Model of a board that is read over the network.
    package static let networkBoard = ModelName.esphome

    package var family: MeterFamily { .generic }
    package var models: [ModelName] { [.generic, .esphome, .byFormula] + described.map(\.model) }

    /// Nil for a model of another family.
    package func description(of model: ModelName) -> LineDescription? {
        switch model {
        case .generic: .usual
        case .esphome: .node
        case .byFormula: .computed
        default: described.first { $0.model == model }?.description
        }
    }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        let own: LinkAddress.Transport = model == .esphome ? .network : model == .byFormula ? .computed : .serial
        guard transport == own else { return nil }
        return description(of: model).map { LineDriver(model: model, $0, startsMidLine: transport == .serial) }
    }

    package var decoders: [NamedDecoder] {
        models.compactMap { model in
            description(of: model).map { description in
                NamedDecoder(model.rawValue) { LineDecoder(description, enforcesCheck: $0) }
            }
        }
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] {
        description(of: model)?.ranges ?? [:]
    }

    package func adding(
        _ model: ModelName, described values: [String: DescriptionValue]
    ) throws(DescriptionError) -> GenericFamily {
        var grown = self
        grown.described.append(Described(model: model, description: try LineDescription(values)))
        return grown
    }

    package var descriptionKeys: [DescriptionKey] {
        [
            DescriptionKey(
                "format", #""pairs""#,
                "How a line is built. \"pairs\": V=5.02;mA=310. \"columns\": 5.02,310. \"json\": one flat object a line."
            ),
            DescriptionKey(
                "fields", #"{ V = "voltage", mA = { quantity = "current", factor = 0.001 } }"#,
                "Which field is which quantity (\(LineDescription.quantities.map(\.word).joined(separator: ", "))), in V, A, "
                    + "W, Wh, mAh, °C, Ω, Hz and s. Beside quantity, a field may have factor, offset, range = [0, 36], unit = "
                    + "\"mA\" (what follows the number) and optional = true (a line may lack it). In columns a list, with \"\" "
                    + "for those of no interest."),
            DescriptionKey("separator", #"";""#, "The character between two fields; \",\" in columns."),
            DescriptionKey("assignment", #""=""#, "The character between the name and the value of a pair."),
            DescriptionKey("comment", ##""#""##, "Beginning of lines to ignore. \"\": none."),
            DescriptionKey(
                "checksum", #""none""#,
                "\"xor\", \"crc16\": a line ends in * and 2 or 4 hexadecimal digits, over all that is before the *."),
            DescriptionKey("baud-rate", "115200", "What the sketch gives to Serial.begin."),
            DescriptionKey("request", #""R\n""#, "What makes the board send a line. Default: nothing."),
            DescriptionKey("interval", #""1s""#, "How often meterd asks it, or how often it sends. 10ms to 1h."),
            DescriptionKey("settle", #""2s""#, "Pause after opening the port, which resets many boards. 0s to 1m."),
        ]
    }
}
