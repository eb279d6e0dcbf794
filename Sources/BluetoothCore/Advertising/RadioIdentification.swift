package import MeterModel

/// What kind of meter is heard, from what it advertises (protocols.md, section 5). The last word has the first answer
/// over a link: radio modules share names and services.
package enum RadioIdentification: Hashable, Sendable {
    case meter(ModelName)
    /// Its services are those of the modules in meters, and many other things.
    case perhaps
    case none

    /// - Parameters:
    ///   - name: what it calls itself, nil while that has not been heard.
    ///   - kind: the radio that heard it.
    package init(name: String?, services: [BluetoothUUID], kind: RadioAddress.Kind) {
        if let name, let model = Self.model(named: name, kind: kind) {
            self = .meter(model)
            return
        }
        let hasMeterService = services.contains { Self.meterServices.contains($0) }
        if kind.isLowEnergy {
            self = hasMeterService ? .perhaps : .none
        } else {
            // Over Classic, the serial port that meters have is most other things', too; the makers' ending is not.
            self = name.map(Self.hasAtorchEnding) == true ? .perhaps : .none
        }
    }

    /// FFE0: data of every meter with a module (protocols.md 1.1, 2.2, 3.5, 6.1). FFE5: commands of TC66C and FNIRSI.
    private static let meterServices = [BluetoothUUID(short: 0xFFE0), BluetoothUUID(short: 0xFFE5)]

    private static func model(named name: String, kind: RadioAddress.Kind) -> ModelName? {
        // Names are ASCII; the length keeps a hostile one from being searched.
        guard name.utf8.count <= 32 else { return nil }
        let upper = name.uppercased()
        if let exact = exactNames[upper] { return exact }
        if upper == "TC66C" || upper == "BT24-M" { return kind.isLowEnergy ? .tc66c : nil }
        if kind.isLowEnergy, let fnirsi = fnirsi(upper) { return fnirsi }
        guard hasAtorchEnding(upper) else { return nil }
        return atorchPrefixes.first { prefix, _ in
            upper.hasPrefix(prefix) && upper.dropFirst(prefix.count).first?.isNumber == false
        }?.model
    }

    private static let exactNames: [String: ModelName] = ["UM24C": .um24c, "UM25C": .um25c, "UM34C": .um34c]

    /// Model and decimal serial number, `FNB58-051772` (protocols.md 3.5).
    private static func fnirsi(_ upper: String) -> ModelName? {
        guard let dash = upper.firstIndex(of: "-") else {
            // C1 alone is too short to mean a meter.
            return upper.hasPrefix("FNB") ? fnirsiModels[upper] : nil
        }
        let serial = upper[upper.index(after: dash)...]
        guard !serial.isEmpty, serial.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return fnirsiModels[String(upper[..<dash])]
    }

    private static let fnirsiModels: [String: ModelName] = [
        "FNB58": .fnb58, "FNB48": .fnb48, "FNB48S": .fnb48s, "FNB48P": .fnb48s, "C1": .c1,
    ]

    /// Atorch names end in the kind of radio (protocols.md 6.1).
    private static func hasAtorchEnding(_ name: String) -> Bool {
        let upper = name.uppercased()
        return ["-BLE", "_BLE", "-SPP", "_SPP"].contains { upper.hasSuffix($0) }
    }

    /// By what each kind reports (protocols.md 6.2).
    private static let atorchPrefixes: [(prefix: String, model: ModelName)] = [
        ("UD18", .atorchUSB), ("UD24", .atorchUSB), ("J7-C", .atorchUSB), ("T18", .atorchUSB), ("UC96", .atorchUSB),
        ("AT24", .atorchAC), ("S1", .atorchAC),
        ("DT24", .atorchDC), ("DT3010", .atorchDC), ("DL24", .atorchDC),
    ]
}
