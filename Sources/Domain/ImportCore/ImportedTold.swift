extension TelemetryBody {
    init(importing json: inout JSONReader) {
        self.init()
        guard json.open("{") else { return }
        while let key = json.key() {
            switch (key, json.peek) {
            case ("details", UInt8(ascii: "{")) where json.open("{"):
                while let key = json.key() { details[key] = Self.detail(&json) }
            case ("groups", UInt8(ascii: "[")) where json.open("["):
                while json.element() {
                    if json.peek == UInt8(ascii: "{") { groups.append(Self.group(&json)) } else { json.passValue() }
                }
            default: json.passValue()
            }
        }
    }

    private static func detail(_ json: inout JSONReader) -> Value? {
        switch json.peek {
        case UInt8(ascii: "\""): json.string().map { .text($0) }
        case UInt8(ascii: "t"), UInt8(ascii: "f"): json.flag().map { .flag($0) }
        case UInt8(ascii: "n"): json.passValue() ? .unknown : nil
        default: json.double().map { .number($0) }
        }
    }

    private static func group(_ json: inout JSONReader) -> Group {
        var (index, charge, energy) = (Int64?.none, Double?.none, Double?.none)
        guard json.open("{") else { return .init(index: 0, charge_mAh: 0, energy_Wh: 0) }
        while let key = json.key() {
            switch key {
            case "index": index = json.integer()
            case "charge_mAh": charge = json.double()
            case "energy_Wh": energy = json.double()
            default: json.passValue()
            }
        }
        if index == nil || charge == nil || energy == nil { json.fail(.unwanted) }
        return Group(index: index.map { Int($0) } ?? 0, charge_mAh: charge ?? 0, energy_Wh: energy ?? 0)
    }
}
