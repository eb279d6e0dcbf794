package import Domain

extension MeterFamily {
    package static let ct3 = MeterFamily("ct3", of: .shizuku)
}

extension ModelName {
    /// Also sold as Shizuku YK001, POWER-Z KT002 and Atorch UT18.
    package static let avhzyCT3 = ModelName("ct-3", of: .ct3, displayName: "AVHzY CT-3")
    /// The maker calls it Korona YK003C.
    package static let avhzyC3 = ModelName("avhzy-c3", of: .ct3, displayName: "AVHzY C3")
}

/// YK-Lab's meters with a USB serial port (Docs/Protocols/CT3.md).
package struct CT3Family: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .ct3 }
    package var models: [ModelName] { [.avhzyCT3, .avhzyC3] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .serial: CT3Driver(model: model)
        case .hid, .bulk, .network, .ble, .spp, .computed: nil
        }
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { CT3Message.ranges }

    package var decoders: [NamedDecoder] { [NamedDecoder("ct3") { CT3Decoder(enforcesChecks: $0) }] }

    /// The vendor ID is ST's, so the product text identifies the meter. A C3's is `Korona YK003C in Application Mode`
    /// (Docs/Identities.md). All other models' texts have the same ending (fqueze/usb-power-profiling removes it). A
    /// device with product ID 374B but without this ending is an ST-Link.
    package var usbDevices: [USBIdentity] {
        [
            USBIdentity(0x0483, 0xFFFF, .tty, match: "in Application Mode", .avhzyCT3),
            USBIdentity(0x0483, 0x374B, .tty, match: "in Application Mode", .avhzyCT3),
            USBIdentity(0x0483, 0xFFFE, .tty, match: "in Application Mode", .avhzyC3),
        ]
    }

    package var usbMaker: USBMaker? { USBMaker(.shizuku, word: "yk-lab") }
}
