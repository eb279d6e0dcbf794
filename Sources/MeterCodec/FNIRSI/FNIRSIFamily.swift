package import Domain

extension MeterFamily {
    package static let fnirsi = MeterFamily("fnirsi", of: .fnirsi)
}

extension ModelName {
    package static let fnb38 = ModelName("fnb38", of: .fnirsi)
    package static let fnb48 = ModelName("fnb48", of: .fnirsi)
    package static let fnb48s = ModelName("fnb48s", of: .fnirsi)
    package static let fnb58 = ModelName("fnb58", of: .fnirsi)
    package static let c1 = ModelName("c1", of: .fnirsi)
    /// Has the USB IDs of a C1, so only the user can identify it.
    package static let fnac28 = ModelName("fnac-28", of: .fnirsi)
    /// Has the USB IDs of an FNB58, but other interfaces.
    package static let fnbC2 = ModelName("fnb-c2", of: .fnirsi)
}

/// FNIRSI's meters (Docs/Protocols/FNIRSI.md). Docs/Identities.md lists their texts and names.
package struct FNIRSIFamily: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .fnirsi }
    package var models: [ModelName] { [.fnb38, .fnb48, .fnb48s, .fnb58, .c1, .fnbC2, .fnac28] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .hid: FNIRSIUSBDriver(model: model)
        case .ble: model == .fnac28 ? nil : FNIRSIBLEDriver(model: model)
        case .serial, .spp, .bulk, .network, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] {
        [
            NamedDecoder("fnirsi-usb") {
                FNIRSIUSBDecoder(enforcesCheck: $0, filter: $0 ? FNIRSIGlitchFilter() : nil)
            },
            NamedDecoder("fnirsi-ble") { FNIRSIBLEDecoder(enforcesCheck: $0) },
        ]
    }

    package var usbDevices: [USBIdentity] {
        [
            USBIdentity(0x0483, 0x003A, .hidraw, .fnb48),
            USBIdentity(0x0483, 0x003B, .hidraw, .c1),
            USBIdentity(0x2E3C, 0x0049, .hidraw, .fnb48s),
            USBIdentity(0x2E3C, 0x5558, .hidraw, .fnb58),
            USBIdentity(0x2E3C, 0x5558, .hidraw, layout: .init(has: [0x02], lacks: [0x08]), .fnbC2),
            USBIdentity(0x2E3C, 0x5555, .hidraw, .fnb58),
            USBIdentity(0x0483, 0x0039, .hidraw, match: "FNB-38", .fnb38),
        ]
    }

    /// Products in `ownProducts` have the text `USB Tester`, so only their IDs identify the maker.
    package var usbMaker: USBMaker? { USBMaker(.fnirsi, word: "fnirsi", ownProducts: [0x0483: [0x003A, 0x003B]]) }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { FNIRSIUSBPacket.ranges }

    /// Names consist of model and serial number, `FNB58-051772` (Docs/Identities.md#over-the-air). The model may also
    /// be `FNB-58` (maxim75/fnb58 cli.py), the serial number hexadecimal, `FNB58-0517A0` (maxim75/fnb58 README.md).
    package func model(named advertised: AdvertisedName) -> ModelName? {
        guard advertised.radio == .ble else { return nil }
        let name = advertised.text.hasPrefix("FNB-") ? "FNB" + advertised.text.dropFirst(4) : advertised.text
        guard let dash = name.firstIndex(of: "-") else {
            // C1 alone is too short to identify a meter.
            return name.hasPrefix("FNB") ? Self.names[name] : nil
        }
        let model = Self.names[String(name[..<dash])]
        let serial = name[name.index(after: dash)...]
        let isSerial = serial.allSatisfy { $0.isASCII && (model == .c1 ? $0.isNumber : $0.isHexDigit) }
        return !serial.isEmpty && isSerial ? model : nil
    }

    private static let names: [String: ModelName] = [
        "FNB58": .fnb58, "FNB48": .fnb48, "FNB48S": .fnb48s, "FNB48P": .fnb48s, "FNB38": .fnb38, "C1": .c1,
    ]

    /// Returns whether the name has the prefix from osnwt/ha-fnirsi-fnb58 manifest.json, which does not identify the
    /// model.
    package func isMakersName(_ name: String) -> Bool { name.hasPrefix("FNIRSI") }

    package var makersNameRadio: LinkAddress.Transport? { .ble }

    package var radioModules: Set<RadioModule> { [.twoServices] }

    /// The request AA 81 00 F4. `isOrderTo` contains the UM meters' family: for it, the byte F4 is the command to clear
    /// the data group.
    package var radioQuestion: RadioQuestion? {
        RadioQuestion(
            steps: [FNIRSIBLECommand.info.bytes, []], isOrderTo: [.um], makeDecoder: { FNIRSIBLEDecoder() },
            judge: { frame, _ in if case .fnirsiBLE(let frame) = frame { frame.modelOverRadio } else { nil } })
    }
}

extension FNIRSIBLEFrame {
    /// Model that an info frame names, if any. 48 counts as an FNB48S, because related models send the same frames.
    fileprivate var modelOverRadio: ModelName? {
        guard let code = modelCode else { return nil }
        switch code {
        case 58: return .fnb58
        case 48: return .fnb48s
        // 38 and 9 are from the maker's own program (CapnBry/fnb48-web).
        case 38: return .fnb38
        case 9: return .c1
        default: return nil
        }
    }
}
