package import MeterModel

/// Which driver speaks to which model, and which decoder reads bytes that a person names a model for.
/// A new family adds a line in each.
package enum MeterCatalogue {
    /// A driver for one link to a meter of a model.
    package static func driver(for model: ModelName) -> (any MeterDriver)? {
        switch model.family {
        case .um: UMDriver(model: model)
        case .atorch: AtorchDriver(model: model)
        case .tc66: TC66Driver(model: model)
        case .km003c: KM003CDriver(model: model)
        default: nil
        }
    }

    /// The models that have a driver.
    package static let drivenModels = ModelName.allCases.filter { driver(for: $0) != nil }

    /// The names that `meterctl decode --model` takes (spec/cli.md).
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
