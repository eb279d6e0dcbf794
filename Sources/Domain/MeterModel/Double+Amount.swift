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

    /// The number without ".0" and, below 0.0001, without an exponent, rounded to 9 decimals.
    package var plainText: String {
        let text = "\(self)"
        // Below 0.0001, a Double's text has an exponent.
        guard text.contains("e-") else { return text.hasSuffix(".0") ? String(text.dropLast(2)) : text }
        let digits = String(Int((magnitude * 1e9).rounded()) + 1_000_000_000).dropFirst()
        let end = digits.lastIndex { $0 != "0" } ?? digits.startIndex
        return "\(self < 0 ? "-" : "")0.\(digits[...end])"
    }
}
