/// Bytes of a line. All accesses check bounds, because an access outside the line would crash.
struct LineText {
    let bytes: UnsafeRawBufferPointer

    static let blank = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")

    static func isBlank(_ byte: UInt8) -> Bool { byte == blank || byte == tab }

    func trimmed(_ part: Range<Int>) -> Range<Int> {
        var (start, end) = (part.lowerBound, part.upperBound)
        while start < end, Self.isBlank(bytes[start]) { start += 1 }
        while start < end, Self.isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    func firstIndex(of byte: UInt8, in part: Range<Int>) -> Int? {
        var index = part.lowerBound
        while index < part.upperBound {
            if bytes[index] == byte { return index }
            index += 1
        }
        return nil
    }

    func isEqual(_ part: Range<Int>, _ text: [UInt8]) -> Bool {
        guard part.count == text.count else { return false }
        for (index, byte) in text.enumerated() where bytes[part.lowerBound + index] != byte { return false }
        return true
    }

    func begins(_ part: Range<Int>, with text: [UInt8]) -> Bool {
        part.count >= text.count && isEqual(part.lowerBound..<part.lowerBound + text.count, text)
    }

    enum Number: Equatable {
        case value(Double)
        /// A word for an unknown value, such as `nan`.
        case unknown
        case misfit
    }

    /// Parses a decimal number, with or without a point and an exponent, and the unit after it.
    ///
    /// A board's `print` writes `nan`, `inf` and `ovf`, also with a minus sign, for unknown values
    /// (arduino/ArduinoCore-avr cores/arduino/Print.cpp, printFloat).
    func number(_ part: Range<Int>, unit: [UInt8]) -> Number {
        var rest = part
        var isNegative = false
        if let sign = rest.first.map({ bytes[$0] }), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            rest = rest.dropFirst()
        }
        let isWord = Self.words.contains { begins(rest, with: $0) }
        if isWord {
            rest = rest.dropFirst(3)
            return isUnit(rest, unit) ? .unknown : .misfit
        }
        guard let value = decimal(&rest), isUnit(rest, unit) else { return .misfit }
        return .value(isNegative ? -value : value)
    }

    private static let words = ["nan", "NaN", "NAN", "inf", "INF", "ovf"].map { Array($0.utf8) }

    private func isUnit(_ part: Range<Int>, _ unit: [UInt8]) -> Bool { isEqual(trimmed(part), unit) }

    /// Maximum number of significant digits: more would not make a double more exact. A longer number makes the line a
    /// misfit.
    private static let digitsMax = 18
    /// Powers of ten that are exact in a double.
    private static let powers: [Double] = (0...22).reduce(into: []) { powers, _ in
        powers.append((powers.last ?? 0.1) * 10)
    }

    private func decimal(_ part: inout Range<Int>) -> Double? {
        var mantissa: UInt64 = 0
        var (digits, significant, scale) = (0, 0, 0)
        var isFraction = false
        while let byte = part.first.map({ bytes[$0] }) {
            if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else if let digit = Self.digit(byte) {
                digits += 1
                if significant > 0 || digit > 0 { significant += 1 }
                guard significant <= Self.digitsMax else { return nil }
                mantissa = mantissa &* 10 &+ UInt64(digit)
                if isFraction { scale -= 1 }
            } else {
                break
            }
            part = part.dropFirst()
        }
        guard digits > 0 else { return nil }
        if let byte = part.first.map({ bytes[$0] }), byte | 0x20 == UInt8(ascii: "e") {
            guard let exponent = exponent(&part) else { return nil }
            scale += exponent
        }
        guard scale.magnitude < UInt(Self.powers.count) else { return nil }
        let value = Double(mantissa)
        return scale < 0 ? value / Self.powers[-scale] : value * Self.powers[scale]
    }

    /// Parses an exponent: `e`, an optional sign, and one or two digits.
    private func exponent(_ part: inout Range<Int>) -> Int? {
        part = part.dropFirst()
        var isNegative = false
        if let sign = part.first.map({ bytes[$0] }), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            part = part.dropFirst()
        }
        var (value, digits) = (0, 0)
        while digits < 3, let digit = part.first.flatMap({ Self.digit(bytes[$0]) }) {
            value = value * 10 + digit
            digits += 1
            part = part.dropFirst()
        }
        guard (1...2).contains(digits) else { return nil }
        return isNegative ? -value : value
    }

    private static func digit(_ byte: UInt8) -> Int? {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int(byte - UInt8(ascii: "0")) : nil
    }
}
