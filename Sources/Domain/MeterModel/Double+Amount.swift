extension Double {
    /// Parses `0.05`, `0.05A` or `50mA` for the unit `A`. Nil unless the text before the unit is at most 12 digits and
    /// an optional point.
    package init?(amount text: String, unit: String) {
        var digits = text[...]
        var scale = 1.0
        if digits.hasSuffix("m\(unit)") {
            (digits, scale) = (digits.dropLast(unit.count + 1), 1000)
        } else if digits.hasSuffix(unit) {
            digits = digits.dropLast(unit.count)
        }
        let isPlain = digits.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
        }
        guard isPlain, digits.utf8.count <= 12, let number = Double(digits) else { return nil }
        self = number / scale
    }
}
