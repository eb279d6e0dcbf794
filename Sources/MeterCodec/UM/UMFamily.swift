package import Domain

extension MeterFamily {
    /// RuiDeng's meters with Bluetooth, and the A3-B, which has the same protocol.
    package static let um = MeterFamily("um", of: .rdtech)
}

extension ModelName {
    package static let um24c = ModelName("um24c", of: .um)
    package static let um25c = ModelName("um25c", of: .um)
    package static let um34c = ModelName("um34c", of: .um)
    /// An A3-B: sends the blocks of a UM24C, but over LE expects another form of requests.
    package static let a3b = ModelName("a3-b", of: .um)
}

package struct UMFamily: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .um }
    package var models: [ModelName] { [.um24c, .um25c, .um34c, .a3b] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .serial, .ble, .spp: UMDriver(model: model, over: transport)
        case .hid, .bulk, .network, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] {
        ["um24c", "um25c", "um34c", "a3-b", "um"].map { name in NamedDecoder(name) { UMDecoder(enforcesTrailer: $0) } }
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { UMPlausibility.ranges(of: model) }

    package func model(named name: AdvertisedName) -> ModelName? { Self.names[name.text] }

    /// Returns whether the name is the default name of the DX-BT18, the radio module of a UM25C and a UM34C (sigrok.org
    /// wiki RDTech_UM_series), over either kind of Bluetooth (portare.vad.is.xdev.ro/bogdan/USB-Meter, "HM-10 and
    /// DX-BT18 Module Working Summary"). Whether a meter advertises this name, or `BT18`, is unverified.
    package func isModulesName(_ name: AdvertisedName) -> Bool { ["BT18", "DX-BT18"].contains(name.text) }

    package var radioModules: Set<RadioModule> { [.oneService] }

    package var radioQuestion: RadioQuestion? {
        RadioQuestion(steps: [[0xF0]], makeDecoder: { UMDecoder() }) { frame, _ in
            if case .um(let block) = frame { block.modelName } else { nil }
        }
    }

    /// Models by advertised name. An A3-B has one name per kind of Bluetooth (moormaster/python3-um24c-ble;
    /// dernasherbrezon.github.io).
    private static let names: [String: ModelName] = [
        "UM24C": .um24c, "UM25C": .um25c, "UM34C": .um34c, "E-TEST BLE": .a3b, "E-TEST SPP": .a3b,
    ]
}
