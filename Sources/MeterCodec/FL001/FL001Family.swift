package import Domain

extension MeterFamily {
    package static let fl001 = MeterFamily("fl001", of: .chargerlab)
}

extension ModelName {
    package static let fl001 = ModelName("fl001", of: .fl001, displayName: "FL001 Super")
}

/// The POWER-Z FL001 Super (Docs/Protocols/FL001.md).
package struct FL001Family: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .fl001 }
    package var models: [ModelName] { [.fl001] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .hid: FL001Driver(model: model)
        case .serial, .bulk, .network, .ble, .spp, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] { [NamedDecoder("fl001") { FL001Decoder(enforcesCheck: $0) }] }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { FL001Report.ranges }

    /// USB ids from fqueze/usb-power-profiling usb-power-profiling.js, which accepts any product id of the vendor but
    /// expects this one. The product text is unpublished.
    package var usbDevices: [USBIdentity] { [USBIdentity(0x0472, 0x0002, .hidraw, .fl001)] }
}
