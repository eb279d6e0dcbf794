package enum Hex {
    /// Returns lower-case hex without separators.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        text.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            text.append(Character(UnicodeScalar(lowerDigits[Int(byte >> 4)])))
            text.append(Character(UnicodeScalar(lowerDigits[Int(byte & 15)])))
        }
        return text
    }

    /// Parses hex digits; nil for anything else. Blanks, line ends, commas and colons may separate bytes, and `0x` may
    /// precede one.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt8?
        var isAfterPrefix = false
        for byte in text.utf8 {
            if let digit = byte.hexDigitValue {
                isAfterPrefix = false
                if let high = pending {
                    bytes.append(high << 4 | digit)
                    pending = nil
                } else {
                    pending = digit
                }
            } else if byte == UInt8(ascii: "x"), pending == 0 {
                pending = nil
                isAfterPrefix = true
            } else if !byte.isBlank && byte != UInt8(ascii: ",") && byte != UInt8(ascii: ":") {
                return nil
            } else if pending != nil || isAfterPrefix {
                return nil
            }
        }
        return pending == nil && !isAfterPrefix ? bytes : nil
    }

    private static let lowerDigits = Array("0123456789abcdef".utf8)
}

extension UInt8 {
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package var isBlank: Bool {
        self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A
    }
}

extension BidirectionalCollection<UInt8> {
    package func trimmingBlanks() -> SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[endIndex..<endIndex]
        }
        return self[first...last]
    }
}
