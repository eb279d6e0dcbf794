package import Domain

extension MeterFamily {
    package static let atorch = MeterFamily("atorch", of: .atorch)
}

extension ModelName {
    /// USB meters that push type 3 reports: UD18, UD24, J7-C.
    package static let atorchUSB = ModelName("atorch-usb", of: .atorch, displayName: "Atorch USB")
    /// DC meters that push type 2 reports: DT24.
    package static let atorchDC = ModelName("atorch-dc", of: .atorch, displayName: "Atorch DC")
    /// AC meters that push type 1 reports: AT24, S1.
    package static let atorchAC = ModelName("atorch-ac", of: .atorch, displayName: "Atorch AC")
    /// Loads that push type 2 reports and answer queries: DL24, DL24P, DL24M, PX-100, BW150.
    package static let dl24 = ModelName("dl24", of: .atorch, displayName: "DL24")
}

/// Atorch's meters (Docs/Protocols/Atorch.md).
package struct AtorchFamily: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .atorch }
    package var models: [ModelName] { [.atorchUSB, .atorchDC, .atorchAC, .dl24] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .serial, .ble, .spp: model == .dl24 ? DL24Driver() : AtorchDriver(model: model)
        case .hid, .bulk, .network, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] {
        [
            NamedDecoder("atorch") { AtorchDecoder(enforcesCheck: $0) },
            NamedDecoder("dl24") { AtorchDecoder(enforcesCheck: $0, from: .loadAndHost) },
        ]
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] {
        // A load pushes the reports of a DC meter.
        let fields = (AtorchReportType(model: model) ?? .dc).fields
        return Dictionary(fields.map { ($0.quantity, $0.range) }, uniquingKeysWith: { first, _ in first })
    }

    package func model(named name: AdvertisedName) -> ModelName? {
        if name.radio == .ble {
            switch name.text {
            // One of the two names that a CW20 has (patman15/aiobmsble cw20_bms.py).
            case "ATORCH-CW20": return .atorchDC
            // Default name of a radio module; with this service, the meter is a J7-H (devanlai/webvoltmeter
            // REVERSE.md).
            case "JDY-19": return name.services.contains(0xFEE7) ? .atorchUSB : nil
            default: break
            }
        }
        // A DT24PW's name has a space before its suffix (syssi/esphome-atorch-dl24 issue 61).
        let text = name.text.filter { $0 != " " }
        guard isMakersName(text) else { return nil }
        return Self.prefixes.first { prefix, _ in
            text.hasPrefix(prefix) && text.dropFirst(prefix.count).first?.isNumber == false
        }?.model
    }

    /// Models by the start of the advertised name, derived from the report type (Docs/Protocols/Atorch.md#reports).
    private static let prefixes: [(prefix: String, model: ModelName)] = [
        ("UD18", .atorchUSB), ("UD24", .atorchUSB), ("J7-C", .atorchUSB), ("J7-H", .atorchUSB), ("T18", .atorchUSB),
        ("UT18", .atorchUSB), ("UC96", .atorchUSB),
        ("AT24", .atorchAC), ("S1", .atorchAC),
        ("DT24", .atorchDC), ("DT3010", .atorchDC), ("CW20", .atorchDC),
        // Loads. If one answers no query, the driver uses its reports.
        ("DL24", .dl24), ("BW150", .dl24),
    ]

    /// Atorch names end in the kind of radio (Docs/Identities.md#over-the-air).
    package func isMakersName(_ name: String) -> Bool {
        ["-BLE", "_BLE", "-SPP", "_SPP"].contains { name.hasSuffix($0) }
    }

    /// Bluetooth Classic: its serial port service is common to most devices, so the suffix of the name must suffice.
    package var makersNameRadio: LinkAddress.Transport? { .spp }

    package var radioModules: Set<RadioModule> { [.oneService] }

    /// Needs no request, because the meter pushes a report every second.
    package var radioQuestion: RadioQuestion? {
        RadioQuestion(makeDecoder: { AtorchDecoder() }) { frame, unproved in
            guard case .atorchReport(let report) = frame else { return nil }
            // Without a correct check byte, only type and values identify a report. Noise may match by chance, so
            // require two.
            unproved += 1
            return report.checkMatches || unproved > 1 ? report.model : nil
        }
    }

    package var hasTwinAddresses: Bool { true }
}
