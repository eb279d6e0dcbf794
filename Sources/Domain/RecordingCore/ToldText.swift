/// Telemetry as one property: `charging_mode=t:DCP%201.5A selected_group=n:0 group=3:120:0.6`. Keys and texts are
/// percent-encoded. A value is a number, a text, a Boolean or unknown; a data group has its number, mAh and Wh.
extension TelemetryBody {
    private static let partsMax = 64

    package var text: String {
        let details = details.sorted { $0.key < $1.key }.map { key, value in
            "\(key.percentEncoded)=\(value.recordText)"
        }
        let groups = groups.map { "group=\($0.index):\($0.charge_mAh):\($0.energy_Wh)" }
        return (details + groups).prefix(Self.partsMax).joined(separator: " ")
    }

    /// Skips invalid parts.
    package init(text: String) {
        self.init()
        for part in text.split(separator: " ").prefix(Self.partsMax) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2 else { continue }
            if sides[0] == "group", let group = Group(recordText: sides[1]) {
                groups.append(group)
            } else if let key = String(sides[0]).percentDecoded, let value = Value(recordText: sides[1]) {
                details[key] = value
            }
        }
    }
}

extension TelemetryBody.Value {
    private static let textMax = 200

    fileprivate var recordText: String {
        switch self {
        case .number(let number): "n:\(number)"
        case .text(let text): "t:\(String(text.prefix(Self.textMax)).percentEncoded)"
        case .flag(let flag): flag ? "f:1" : "f:0"
        case .unknown: "u:"
        }
    }

    fileprivate init?(recordText: Substring) {
        let rest = String(recordText.dropFirst(2))
        switch recordText.prefix(2) {
        case "n:":
            guard let number = Double(rest), number.isFinite else { return nil }
            self = .number(number)
        case "t:":
            guard let text = rest.percentDecoded else { return nil }
            self = .text(text)
        case "f:": self = .flag(rest == "1")
        case "u:": self = .unknown
        default: return nil
        }
    }
}

extension TelemetryBody.Group {
    fileprivate init?(recordText: Substring) {
        let parts = recordText.split(separator: ":")
        guard parts.count == 3, let index = Int(parts[0]), let charge = Double(parts[1]), let energy = Double(parts[2]),
            charge.isFinite, energy.isFinite
        else { return nil }
        self.init(index: index, charge_mAh: charge, energy_Wh: energy)
    }
}
