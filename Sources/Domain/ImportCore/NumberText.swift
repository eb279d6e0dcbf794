enum NumberText {
    /// Number of decimal digits that always fit into the 53 bits of a double.
    private static let exactDigits = 15
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// Returns the nearest double; nil for any other text, such as `nan`, `inf`, hexadecimal digits, spaces, or no
    /// digit.
    ///
    /// - Parameter comma: whether a comma may replace the point.
    static func value(_ text: ArraySlice<UInt8>, comma: Bool) -> Double? {
        var rest = text
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        var (mantissa, digits, decimals, hasPoint) = (UInt64(0), 0, 0, false)
        for byte in rest {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard digits < exactDigits else { return slowValue(text, comma: comma) }
                mantissa = mantissa * 10 + UInt64(byte - UInt8(ascii: "0"))
                digits += mantissa == 0 ? 0 : 1
                decimals += hasPoint ? 1 : 0
            case UInt8(ascii: "."), UInt8(ascii: ","):
                guard !hasPoint, byte == UInt8(ascii: ".") || comma else { return nil }
                hasPoint = true
            default:
                return slowValue(text, comma: comma)
            }
        }
        guard rest.count > (hasPoint ? 1 : 0) else { return nil }
        guard decimals < powers.count else { return slowValue(text, comma: comma) }
        // Both operands are exact, so the quotient is the nearest double.
        let magnitude = Double(mantissa) / powers[decimals]
        return isNegative ? -magnitude : magnitude
    }

    private static func slowValue(_ text: ArraySlice<UInt8>, comma: Bool) -> Double? {
        guard text.count <= 64, text.allSatisfy({ allowed.contains($0) }) else { return nil }
        let plain = text.map { comma && $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
        guard let value = Double(String(decoding: plain, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    private static let allowed = Set("0123456789+-.,eE".utf8)
}

extension NumberText {
    /// Returns the place value of the last digit: 10,000 for `1.75735E+09`. Nil without an exponent.
    static func step(_ text: ArraySlice<UInt8>) -> Double? {
        guard let mark = text.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return nil }
        let point = text[..<mark].firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
        let decimals = point.map { mark - $0 - 1 } ?? 0
        guard let exponent = value(text[(mark + 1)...], comma: false) else { return nil }
        return Double("1e\(Int(exponent.rounded().clamped(-400, 400)) - decimals)")
    }
}

extension NumberText {
    /// Removes the commas of `1,234.5`; nil without such commas.
    static func ungrouped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let whole = text.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }.prefix { $0 != UInt8(ascii: ".") }
        let groups = whole.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard groups.count > 1, let first = groups.first, (1...3).contains(first.count),
            first.first != UInt8(ascii: "0"),
            groups.dropFirst().allSatisfy({ $0.count == 3 }),
            groups.joined().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return text.filter { $0 != UInt8(ascii: ",") }
    }
}

extension Double {
    fileprivate func clamped(_ low: Double, _ high: Double) -> Double { Swift.min(Swift.max(self, low), high) }
}
