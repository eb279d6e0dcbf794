/// A 48-bit device address, as Bluetooth and meter ids use it (Docs/SettingsAndRebuild.md#meter-ids).
///
/// Parsing takes every form that people and tools write; printing has one form, `AA:BB:CC:DD:EE:FF`.
package struct MACAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address as a number, the first printed octet most significant. The upper 16 bits are zero.
    package let bits: UInt64

    /// Takes the low 48 bits; anything above them is dropped.
    package init(bits: UInt64) {
        self.bits = bits & 0xFFFF_FFFF_FFFF
    }

    /// Reads an address in any usual form, any case, surrounding blanks: twelve bare digits; six octets of one or two
    /// digits with one kind of separator between them (colon, dash, dot or blank); three dotted groups of four digits.
    ///
    /// - Returns: nil for anything else. An address that reads well may still be none of a device: `identityFault`.
    package init?(_ text: some StringProtocol) {
        let trimmed = Array(text.utf8).trimmingBlanks()
        // Most texts that are tried are names: they are turned away by their length.
        guard (11...17).contains(trimmed.count) else { return nil }
        let digits: [UInt8]
        if let separator = trimmed.first(where: { $0.hexDigitValue == nil }) {
            guard let padded = Self.padded(trimmed, separator: separator) else { return nil }
            digits = padded
        } else {
            digits = Array(trimmed)
        }
        guard digits.count == 12 else { return nil }
        var bits: UInt64 = 0
        for byte in digits {
            guard let digit = byte.hexDigitValue else { return nil }
            bits = bits << 4 | UInt64(digit)
        }
        self.bits = bits
    }

    /// The digits of a separated form, single ones with the zero that was left out before them.
    private static func padded(_ text: ArraySlice<UInt8>, separator: UInt8) -> [UInt8]? {
        guard ":-. ".utf8.contains(separator) else { return nil }
        let groups = text.split(separator: separator, omittingEmptySubsequences: false)
        if groups.count == 3, separator == UInt8(ascii: ".") {
            return groups.allSatisfy { $0.count == 4 } ? Array(groups.joined()) : nil
        }
        guard groups.count == 6, groups.allSatisfy({ (1...2).contains($0.count) }) else { return nil }
        return groups.flatMap { $0.count == 1 ? [UInt8(ascii: "0")] + $0 : Array($0) }
    }

    package var description: String {
        let octets = stride(from: UInt64(40), through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> $0) }
        return octets.map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
    }
}
