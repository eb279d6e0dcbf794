package import Domain

extension MeterFamily {
    package static let witrn = MeterFamily("witrn", of: .witrn)
}

extension ModelName {
    /// A WITRN meter whose USB ids do not identify the model.
    package static let witrnAny = ModelName("witrn", of: .witrn)
    package static let witrnU2p = ModelName("witrn-u2p", of: .witrn, displayName: "WITRN U2p")
    package static let witrnU3 = ModelName("witrn-u3", of: .witrn, displayName: "WITRN U3")
    package static let witrnU3L = ModelName("witrn-u3l", of: .witrn, displayName: "WITRN U3L")
    package static let witrnA2 = ModelName("witrn-a2", of: .witrn, displayName: "WITRN A2")
    package static let witrnA2L = ModelName("witrn-a2l", of: .witrn, displayName: "WITRN A2L")
    static let witrnC4 = ModelName("witrn-c4", of: .witrn, displayName: "WITRN C4")
    package static let witrnC4L = ModelName("witrn-c4l", of: .witrn, displayName: "WITRN C4L")
    package static let witrnC5 = ModelName("witrn-c5", of: .witrn, displayName: "WITRN C5")
    package static let witrnK2 = ModelName("witrn-k2", of: .witrn, displayName: "WITRN K2")
}

/// WITRN's meters (Docs/Protocols/WITRN.md).
package struct WITRNFamily: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .witrn }
    package var models: [ModelName] {
        [
            .witrnU2p, .witrnU3, .witrnU3L, .witrnA2, .witrnA2L, .witrnC4, .witrnC4L, .witrnC5, .witrnK2, .witrnAny,
        ]
    }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .hid: WITRNDriver(model: model)
        case .serial, .bulk, .network, .ble, .spp, .computed: nil
        }
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { WITRNReport.ranges }

    package var decoders: [NamedDecoder] { [NamedDecoder("witrn") { WITRNDecoder(enforcesChecks: $0) }] }

    /// USB devices by product id: didim99/witrn-ui driver/protocol.py (U3, U3L, A2, A2L) and udev/90-usbmeter.rules
    /// (U2p), KHWLGH/WITRN-RS src-tauri/src/lib.rs (K2, C5, and the U3's second id). 5053 identifies no model:
    /// didim99/witrn-ui assigns it to a C4, and KHWLGH/WITRN-RS saw it on a C5. A K2's product text is `WITRN.K2`
    /// (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs). Whether a C4L's text contains `C4L` is unverified. Only WITRN
    /// uses the vendor id.
    package var usbDevices: [USBIdentity] {
        [
            USBIdentity(0x0716, nil, .hidraw, .witrnAny),
            USBIdentity(0x0716, 0x5030, .hidraw, .witrnU2p),
            USBIdentity(0x0716, 0x5044, .hidraw, .witrnU3),
            USBIdentity(0x0716, 0x5063, .hidraw, .witrnU3),
            USBIdentity(0x0716, 0x5054, .hidraw, .witrnU3L),
            USBIdentity(0x0716, 0x5045, .hidraw, .witrnA2),
            USBIdentity(0x0716, 0x5050, .hidraw, .witrnA2L),
            USBIdentity(0x0716, 0x5053, .hidraw, match: "C4L", .witrnC4L),
            USBIdentity(0x0716, 0x5064, .hidraw, .witrnC5),
            USBIdentity(0x0716, 0x5060, .hidraw, .witrnK2),
        ]
    }

    /// The maker's USB properties. Meters may share a serial number, because it is a date: 20230727 on a K2, 20211222
    /// on a C5 (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs).
    package var usbMaker: USBMaker? { USBMaker(.witrn, vendors: [0x0716], word: "witrn", sharesSerials: true) }

    package var modelsHearingPD: [ModelName] { [.witrnK2, .witrnC5, .witrnAny] }
}
