package import Domain

extension MeterFamily {
    package static let km001 = MeterFamily("km001", of: .chargerlab)
    package static let acd15p = MeterFamily("acd15p", of: .atorch)
}

extension ModelName {
    package static let km001Pro = ModelName("km001pro", of: .km001, displayName: "KM001 Pro")
    package static let acd15p = ModelName("acd15p", of: .acd15p)
    package static let c13p = ModelName("c13p", of: .acd15p)
}

/// The POWER-Z KM001 Pro (Docs/Protocols/KM001.md). Only its product text identifies it: an ST example, and boards with
/// another vendor's chips, have the same USB IDs.
package struct KM001Family: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .km001 }
    package var models: [ModelName] { [.km001Pro] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .hid: KM001Driver(model: model, dialect: .km001Pro)
        case .serial, .bulk, .network, .ble, .spp, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] { [NamedDecoder("km001pro") { _ in KM001Decoder(.km001Pro) }] }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { KM001Report.ranges }

    /// USB IDs from fqueze/usb-power-profiling usb-power-profiling.js. The product text is unpublished; that it
    /// contains the name on the meter is unverified.
    package var usbDevices: [USBIdentity] {
        [
            USBIdentity(0x0483, 0x5750, .hidraw, match: "KM001", .km001Pro),
            USBIdentity(0x0483, 0x5F50, .hidraw, match: "KM001", .km001Pro),
            USBIdentity(0x0416, nil, .hidraw, match: "KM001", .km001Pro),
        ]
    }
}

/// Atorch's ACD15P and C13P, whose protocol is similar to the KM001 Pro's (Docs/Protocols/KM001.md).
package struct ACD15PFamily: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .acd15p }
    package var models: [ModelName] { [.acd15p, .c13p] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .hid: KM001Driver(model: model, dialect: .acd15p)
        case .serial, .bulk, .network, .ble, .spp, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] { [NamedDecoder("acd15p") { _ in KM001Decoder(.acd15p) }] }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { KM001Report.ranges }

    /// The product texts contain the model names (fqueze/usb-power-profiling usb-power-profiling.js).
    package var usbDevices: [USBIdentity] {
        [
            USBIdentity(0x0483, 0x5750, .hidraw, match: "ACD15P", .acd15p),
            USBIdentity(0x0483, 0x5F50, .hidraw, match: "ACD15P", .acd15p),
            USBIdentity(0x0483, 0x5750, .hidraw, match: "C13P", .c13p),
            USBIdentity(0x0483, 0x5F50, .hidraw, match: "C13P", .c13p),
        ]
    }
}
