package import Domain

extension MeterFamily {
    package static let zy1280 = MeterFamily("zy1280", of: .yzxstudio)
}

extension ModelName {
    package static let zy1280 = ModelName("zy1280", of: .zy1280)
    package static let zy1276 = ModelName("zy1276", of: .zy1280)
}

/// YZXStudio's meters behind a CH340 (Docs/Protocols/ZY1280.md). Many other adapters have the same USB ids, so users
/// must configure port and model.
package struct ZY1280Family: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .zy1280 }
    package var models: [ModelName] { [.zy1276, .zy1280] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .serial: ZY1280Driver(model: model)
        case .hid, .bulk, .network, .ble, .spp, .computed: nil
        }
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { ZY1280Report.ranges }

    package var decoders: [NamedDecoder] { [NamedDecoder("zy1280") { ZY1280Decoder(enforcesCheck: $0) }] }
}
