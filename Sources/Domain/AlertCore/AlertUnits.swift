/// Units that users type, with their factors to the quantity's own unit.
enum AlertUnits {
    struct Unit {
        var name: String
        var factor: Double
    }

    /// Maximum number in a condition, far above the values of any meter.
    static let numberMax = 1e12
    static let times = ["ms", "s", "sec", "seconds", "m", "min", "minute", "minutes", "h"]

    static func legal(for quantity: Quantity) -> [Unit] {
        switch quantity {
        case .voltage, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage: multiples("V", ["m", "", "k"])
        case .current: multiples("A", ["µ", "u", "m", ""])
        case .power: multiples("W", ["m", "", "k"])
        case .energy, .countedEnergy: multiples("Wh", ["m", "", "k"])
        case .charge, .countedCharge: [Unit(name: "mAh", factor: 1), Unit(name: "Ah", factor: 1000)]
        case .temperature: [Unit(name: "°C", factor: 1), Unit(name: "C", factor: 1)]
        case .resistance: multiples("Ω", ["m", "", "k"]) + multiples("ohm", ["m", "", "k"])
        case .frequency: multiples("Hz", ["", "k"])
        case .duration: [Unit(name: "s", factor: 1), Unit(name: "min", factor: 60), Unit(name: "h", factor: 3600)]
        case .powerFactor, .price, .ratio: []
        }
    }

    private static func multiples(_ unit: String, _ prefixes: [String]) -> [Unit] {
        prefixes.map { Unit(name: $0 + unit, factor: worth($0)) }
    }

    private static func worth(_ prefix: String) -> Double {
        switch prefix {
        case "µ", "u": 1e-6
        case "m": 1e-3
        case "k": 1e3
        default: 1
        }
    }

    /// Returns the named unit's factor; nil if there is none. Prefers an exact match, otherwise ignores case.
    static func factor(of name: String, among units: [Unit]) -> Double? {
        if let exact = units.first(where: { $0.name == name }) { return exact.factor }
        // Reject `M` (a million): it must not match `m` (a thousandth). Accept both code points of the micro sign.
        guard !name.hasPrefix("M") else { return nil }
        let lowered = String(name.lowercased().map { $0 == "\u{3BC}" ? "µ" : $0 })
        return units.first { $0.name.lowercased() == lowered }?.factor
    }

    /// Multiplies, or divides by the reciprocal if `factor` is below 1: as a double, 9 × 0.001 exceeds 0.009, but 9 /
    /// 1000 equals it.
    static func amount(_ number: Double, _ factor: Double) -> Double {
        factor < 1 ? number / (1 / factor).rounded() : number * factor
    }

    static func split(_ word: String) -> (digits: String, suffix: String) {
        var digits = ""
        var rest = Substring(word)
        while let first = rest.first {
            let isSign = first == "-" || first == "+"
            guard first.isASCII, first.isNumber || first == "." || isSign && digits.isEmpty else { break }
            digits.append(first)
            rest = rest.dropFirst()
        }
        return (digits, String(rest))
    }
}
