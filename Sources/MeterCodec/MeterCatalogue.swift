package import MeterModel

/// Which driver speaks to which model, and which decoder reads bytes that a person names a model for.
/// A new family adds a line in each.
package enum MeterCatalogue {
    /// A driver for one link to a meter of a model; nil where the model has no such link, or none that is spoken here.
    package static func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch (model.family, transport) {
        case (.um, .serial), (.um, .ble), (.um, .spp): UMDriver(model: model, over: transport)
        case (.atorch, .serial), (.atorch, .ble), (.atorch, .spp): AtorchDriver(model: model)
        case (.tc66, .serial): TC66Driver(model: model)
        // A TC66 without the C has no radio.
        case (.tc66, .ble) where model == .tc66c: TC66Driver(model: model, over: .ble)
        case (.km003c, .serial), (.km003c, .bulk): KM003CDriver(model: model)
        case (.fnirsi, .hid): FNIRSIUSBDriver(model: model)
        case (.fnirsi, .ble): FNIRSIBLEDriver(model: model)
        default: nil
        }
    }

    /// The driver of a model over the first kind of link that it has: for what does not depend on the link.
    package static func driver(for model: ModelName) -> (any MeterDriver)? {
        transports(of: model).first.flatMap { driver(for: model, over: $0) }
    }

    /// The kinds of link to a model that are spoken here, serial first.
    package static func transports(of model: ModelName) -> [LinkAddress.Transport] {
        LinkAddress.Transport.allCases.filter { driver(for: model, over: $0) != nil }
    }

    /// The models that can be read over a kind of link.
    package static func models(over transport: LinkAddress.Transport) -> [ModelName] {
        ModelName.allCases.filter { driver(for: $0, over: transport) != nil }
    }

    /// The models that can be read over a serial port.
    package static let serialModels = models(over: .serial)

    /// The names that `meterctl decode --model` takes (Docs/CommandLine.md#meters).
    package static let decoderNames = [
        "um24c", "um25c", "um34c", "um", "tc66", "tc66c", "fnirsi-usb", "fnirsi-ble", "km002c", "km003c", "atorch",
    ]

    /// A decoder by the name that a person types, or nil for a name that no decoder has.
    ///
    /// - Parameter enforcingChecks: false takes frames with a wrong check sum where their shape is right.
    package static func decoder(named name: String, enforcingChecks: Bool = true) -> (any FrameDecoder)? {
        switch name.lowercased() {
        case "um", "um24c", "um25c", "um34c": UMDecoder(enforcesTrailer: enforcingChecks)
        case "fnirsi-usb": FNIRSIUSBDecoder(enforcesCheck: enforcingChecks)
        case "fnirsi-ble": FNIRSIBLEDecoder(enforcesCheck: enforcingChecks)
        case "atorch": AtorchDecoder(enforcesCheck: enforcingChecks)
        case "tc66", "tc66c": TC66Decoder(enforcesChecks: enforcingChecks)
        case "km003c", "km002c": KM003CDecoder(side: .both, enforcesChecks: enforcingChecks)
        default: nil
        }
    }
}
