package import MeterModel

/// Which meter is heard, from what it advertises (Docs/Identities.md#over-the-air). The first answer over a link has
/// the final say: radio modules share names and services.
package enum RadioIdentification: Hashable, Sendable {
    case meter(ModelName)
    /// Its services are those of modules used in meters, or its name is a maker's; connecting will tell.
    case perhaps
    case none

    /// - Parameters:
    ///   - name: its name, if heard yet.
    ///   - kind: the radio that heard it.
    package init(name: String?, services: [BluetoothUUID], kind: RadioAddress.Kind) {
        if let name, let model = Self.model(named: name, services: services, kind: kind) {
            self = .meter(model)
            return
        }
        let mayBeMeter =
            if kind.isLowEnergy {
                services.contains { Self.meterServices.contains($0) } || name.map(Self.isMakersName) == true
            } else {
                // Over Classic, the serial port that meters have is common to most other things; the makers' ending of
                // the name is not.
                name.map { Self.hasAtorchEnding($0.uppercased()) } == true
            }
        self = mayBeMeter ? .perhaps : .none
    }

    /// The maker whose meters have such a name, if the name tells that much but not the model.
    package static func maker(named name: String) -> MeterMaker? {
        if isMakersName(name) { return .fnirsi }
        return hasAtorchEnding(name.uppercased()) ? .atorch : nil
    }

    /// FFE0: data of every meter with a module (Docs/Protocols/UM.md#links, Docs/Protocols/TC66.md#links,
    /// Docs/Protocols/FNIRSI.md#bluetooth-le and Docs/Protocols/Atorch.md#links). FFE5: commands of TC66C and FNIRSI.
    private static let meterServices = [BluetoothUUID(short: 0xFFE0), BluetoothUUID(short: 0xFFE5)]

    private static func model(
        named name: String, services: [BluetoothUUID], kind: RadioAddress.Kind
    ) -> ModelName? {
        // Names are ASCII; the limit keeps hostile ones from being searched.
        guard name.utf8.count <= 32 else { return nil }
        let upper = name.uppercased()
        if let exact = exactNames[upper] { return exact }
        if kind.isLowEnergy, let model = lowEnergyModel(upper, services) { return model }
        // A DT24PW puts a blank before its ending (syssi/esphome-atorch-dl24 issue 61).
        let atorch = upper.filter { $0 != " " }
        guard hasAtorchEnding(atorch) else { return nil }
        return atorchPrefixes.first { prefix, _ in
            atorch.hasPrefix(prefix) && atorch.dropFirst(prefix.count).first?.isNumber == false
        }?.model
    }

    /// An A3-B is named after what it does (moormaster/python3-um24c-ble; dernasherbrezon.github.io), over either
    /// radio.
    private static let exactNames: [String: ModelName] = [
        "UM24C": .um24c, "UM25C": .um25c, "UM34C": .um34c, "E-TEST BLE": .a3b, "E-TEST SPP": .a3b,
    ]

    private static func lowEnergyModel(_ upper: String, _ services: [BluetoothUUID]) -> ModelName? {
        switch upper {
        case "TC66C", "BT24-M": .tc66c
        // One of the two names that a CW20 has (patman15/aiobmsble cw20_bms.py).
        case "ATORCH-CW20": .atorchDC
        // A module's own name; together with this service, a J7-H (devanlai/webvoltmeter REVERSE.md).
        case "JDY-19": services.contains(BluetoothUUID(short: 0xFEE7)) ? .atorchUSB : nil
        default: fnirsi(upper)
        }
    }

    /// Model and serial number, `FNB58-051772` (Docs/Identities.md#over-the-air), the model also as `FNB-58`
    /// (maxim75/fnb58 cli.py). The digits of a serial number may be hexadecimal, `FNB58-0517A0` (maxim75/fnb58
    /// README.md).
    private static func fnirsi(_ upper: String) -> ModelName? {
        let name = upper.hasPrefix("FNB-") ? "FNB" + upper.dropFirst(4) : upper
        guard let dash = name.firstIndex(of: "-") else {
            // C1 alone is too short to identify a meter.
            return name.hasPrefix("FNB") ? fnirsiModels[name] : nil
        }
        let model = fnirsiModels[String(name[..<dash])]
        let serial = name[name.index(after: dash)...]
        let isSerial = serial.allSatisfy { $0.isASCII && (model == .c1 ? $0.isNumber : $0.isHexDigit) }
        return !serial.isEmpty && isSerial ? model : nil
    }

    private static let fnirsiModels: [String: ModelName] = [
        "FNB58": .fnb58, "FNB48": .fnb48, "FNB48S": .fnb48s, "FNB48P": .fnb48s, "FNB38": .fnb38, "C1": .c1,
    ]

    /// `FNIRSI` followed by anything (osnwt/ha-fnirsi-fnb58 manifest.json): one of that maker's, of unknown model.
    private static func isMakersName(_ name: String) -> Bool { name.uppercased().hasPrefix("FNIRSI") }

    /// Atorch names end in the kind of radio (Docs/Identities.md#over-the-air).
    private static func hasAtorchEnding(_ upper: String) -> Bool {
        ["-BLE", "_BLE", "-SPP", "_SPP"].contains { upper.hasSuffix($0) }
    }

    /// By the kind of report each sends (Docs/Protocols/Atorch.md#reports).
    private static let atorchPrefixes: [(prefix: String, model: ModelName)] = [
        ("UD18", .atorchUSB), ("UD24", .atorchUSB), ("J7-C", .atorchUSB), ("J7-H", .atorchUSB), ("T18", .atorchUSB),
        ("UT18", .atorchUSB), ("UC96", .atorchUSB),
        ("AT24", .atorchAC), ("S1", .atorchAC),
        ("DT24", .atorchDC), ("DT3010", .atorchDC), ("DL24", .atorchDC), ("BW150", .atorchDC), ("CW20", .atorchDC),
    ]
}
