/// A 48-bit device address, as Bluetooth and product.md's identity rules use it.
///
/// Parsing takes every form that people and tools write; printing has one form, `AA:BB:CC:DD:EE:FF`.
package struct MACAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address as a number, the first printed octet most significant. The upper 16 bits are zero.
    package let bits: UInt64

    /// Takes the low 48 bits; anything above them is dropped.
    package init(bits: UInt64) {
        self.bits = bits & 0xFFFF_FFFF_FFFF
    }

    /// Reads an address in any usual form: colons, dashes, bare hex, any case, surrounding blanks.
    ///
    /// - Returns: nil unless the text is exactly twelve hex digits, bare or in six separated pairs.
    package init?(_ text: some StringProtocol) {
        let trimmed = Array(text.utf8).trimmingBlanks()
        let separated = trimmed.count == 17
        guard separated || trimmed.count == 12 else { return nil }
        var bits: UInt64 = 0
        let separator = separated ? trimmed[trimmed.index(trimmed.startIndex, offsetBy: 2)] : 0
        guard !separated || separator == UInt8(ascii: ":") || separator == UInt8(ascii: "-") else { return nil }
        for (position, byte) in trimmed.enumerated() {
            if separated && position % 3 == 2 {
                guard byte == separator else { return nil }
            } else {
                guard let digit = byte.hexDigitValue else { return nil }
                bits = bits << 4 | UInt64(digit)
            }
        }
        self.bits = bits
    }

    package var description: String {
        let octets = stride(from: UInt64(40), through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> $0) }
        return octets.map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
    }
}
