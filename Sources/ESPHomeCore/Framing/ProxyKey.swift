/// The key of a node: `api: encryption: key:` in its ESPHome configuration. It prints as nothing.
package struct ProxyKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// 32 bytes, not all of them zero: a node without a key takes zeros from anybody.
    package let bytes: [UInt8]

    /// - Returns: nil unless the text is 32 bytes in base64 (RFC 4648, 4), or if all of them are zero.
    package init?(base64 text: some StringProtocol) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "=") }
        guard text.utf8.count == 44, digits.count == 43 else { return nil }
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for digit in digits {
            guard let value = Self.value(of: digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard bytes.count == 32, bytes.contains(where: { $0 != 0 }) else { return nil }
        self.bytes = bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
