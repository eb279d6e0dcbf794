/// A 48-bit Bluetooth address, also in meter ids (Docs/SettingsAndRebuild.md#meter-ids). Printed as
/// `AA:BB:CC:DD:EE:FF`.
package struct MACAddress: Hashable, Sendable, CustomStringConvertible {
    /// The first printed octet is the most significant. The upper 16 bits are zero.
    package let bits: UInt64

    package init(bits: UInt64) {
        self.bits = bits & 0xFFFF_FFFF_FFFF
    }

    /// Parses an address; ignores case and surrounding blanks. Accepts twelve bare digits; six octets of one or two
    /// digits with one kind of separator (colon, dash, dot or blank); or three dotted groups of four digits. Nil for
    /// anything else. A valid address may still identify no device: see `identityFault`.
    package init?(_ text: some StringProtocol) {
        if let address = MACAddress(printed: text) {
            self = address
            return
        }
        let bytes = Array(text.utf8).trimmingBlanks()
        // Most texts here are names, so reject them early.
        guard (11...17).contains(bytes.count) else { return nil }
        var bits: UInt64 = 0
        var separator: UInt8?
        var group = Group()
        var sizes: [Int] = []
        for byte in bytes {
            if let digit = byte.hexDigitValue {
                group.take(digit)
            } else {
                guard byte == separator ?? byte, ":-. ".utf8.contains(byte) else { return nil }
                separator = byte
                group.end(into: &bits, &sizes)
            }
        }
        group.end(into: &bits, &sizes)
        let isWhole =
            switch sizes.count {
            case 1: sizes == [12]
            case 3: sizes == [4, 4, 4] && separator == UInt8(ascii: ".")
            case 6: sizes.allSatisfy { $0 == 1 || $0 == 2 }
            default: false
            }
        guard isWhole else { return nil }
        self.bits = bits
    }

    /// Parses only the output of `description`: a fast path for record names and lease renewals.
    package init?(printed text: some StringProtocol) {
        guard text.utf8.count == Self.printedLength else { return nil }
        var (bits, place) = (UInt64(0), 0)
        for byte in text.utf8 {
            defer { place += 1 }
            if place % 3 == 2 {
                guard byte == UInt8(ascii: ":") else { return nil }
                continue
            }
            guard let digit = byte.hexDigitValue, byte < UInt8(ascii: "a") else { return nil }
            bits = bits << 4 | UInt64(digit)
        }
        self.bits = bits
    }

    private static let printedLength = 17

    /// Digits between separators. Avoids allocation, because meterd parses the name of every received settings record.
    private struct Group {
        private var value: UInt64 = 0
        private var digits = 0

        mutating func take(_ digit: UInt8) {
            value = value << 4 | UInt64(digit)
            digits += 1
        }

        /// Appends the group's digits to `bits`; a single digit gets a leading zero.
        mutating func end(into bits: inout UInt64, _ sizes: inout [Int]) {
            bits = bits << UInt64(4 * max(2, digits)) | value
            sizes.append(digits)
            self = Group()
        }
    }

    package var description: String {
        String(unsafeUninitializedCapacity: Self.printedLength) { text in
            for octet in 0..<6 {
                let value = UInt8(truncatingIfNeeded: bits >> UInt64(40 - 8 * octet))
                if octet > 0 { text[3 * octet - 1] = UInt8(ascii: ":") }
                text[3 * octet] = Self.digit(value >> 4)
                text[3 * octet + 1] = Self.digit(value & 15)
            }
            return Self.printedLength
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }
}
