package import Domain

extension MeterFamily {
    package static let tc66 = MeterFamily("tc66", of: .rdtech)
}

extension ModelName {
    package static let tc66 = ModelName("tc66", of: .tc66)
    package static let tc66c = ModelName("tc66c", of: .tc66)
}

/// The TC66 and TC66C (Docs/Protocols/TC66.md).
package struct TC66Family: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .tc66 }
    package var models: [ModelName] { [.tc66, .tc66c] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .serial: TC66Driver(model: model)
        // A TC66 without the C has no radio.
        case .ble where model == .tc66c: TC66Driver(model: model, over: .ble)
        case .network, .ble, .spp, .hid, .bulk, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] {
        ["tc66", "tc66c"].map { name in NamedDecoder(name) { TC66Decoder(enforcesChecks: $0) } }
    }

    /// USB identity that the TC66 and TC66C share, under GigaDevice's vendor id.
    package var usbDevices: [USBIdentity] { [USBIdentity(0x28E9, nil, .tty, match: "RuiDeng", .tc66)] }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { TC66Block.ranges }

    package func model(named name: AdvertisedName) -> ModelName? {
        name.radio == .ble && ["TC66C", "BT24-M"].contains(name.text) ? .tc66c : nil
    }

    /// Returns whether the name starts with `TC66`, the check of other integrations
    /// (jurgen2005/TC66C-Home-Assistant-integratie manifest.json, alexandreaudrain/tc66c_ble const.py).
    package func isMakersName(_ name: String) -> Bool { name.hasPrefix("TC66") }

    package var makersNameRadio: LinkAddress.Transport? { .ble }

    /// Returns whether the name is the default name of the radio module in older meters
    /// (portare.vad.is.xdev.ro/bogdan/USB-Meter, "PW0316 BLE Module Working Summary").
    package func isModulesName(_ name: AdvertisedName) -> Bool { name.radio == .ble && name.text == "PW0316" }

    /// Radio modules of the TC66C; meters up to firmware 1.14 have `twoServices`.
    package var radioModules: Set<RadioModule> { [.oneService, .twoServices] }

    package var radioQuestion: RadioQuestion? {
        RadioQuestion(steps: [TC66Request.values.bytes(over: .ble), []], makeDecoder: { TC66Decoder() }) { frame, _ in
            // A TC66C identifies itself as TC66, but only the TC66C has a radio.
            if case .tc66(.block) = frame { .tc66c } else { nil }
        }
    }
}
