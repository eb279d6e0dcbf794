package import Domain

extension MeterFamily {
    package static let ppk2 = MeterFamily("ppk2", of: .nordic)
}

extension ModelName {
    package static let ppk2 = ModelName("ppk2", of: .ppk2)
}

/// Nordic's Power Profiler Kit II (Docs/Protocols/PPK2.md).
package struct PPK2Family: FamilyDescription {
    /// Greatest voltage that a PPK2 may supply, in millivolts; nil for none.
    let voltageMax: Int?

    package init(voltageMax: Int? = nil) { self.voltageMax = voltageMax }

    package var family: MeterFamily { .ppk2 }
    package var models: [ModelName] { [.ppk2] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .serial: PPK2Driver(model: model, voltageMax: voltageMax)
        case .hid, .bulk, .network, .ble, .spp, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] { [NamedDecoder("ppk2") { _ in PPK2Decoder() }] }

    /// Files of other programs may have a voltage, which an ammeter does not report; supplies are up to 5 V
    /// (pc-nrfconnect-ppk src/device/serialDevice.ts).
    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] {
        [.voltage: 0...5.5, .current: PPK2Window.currents]
    }

    /// USB ids with the text `PPK2` (ppk2-api-python `list_devices`), because Nordic's other boards with the same USB
    /// library have the same ids.
    package var usbDevices: [USBIdentity] { [USBIdentity(0x1915, 0xC00A, .tty, match: "PPK2", .ppk2)] }
}
