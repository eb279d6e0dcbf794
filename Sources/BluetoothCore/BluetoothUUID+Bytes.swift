extension BluetoothUUID {
    /// Decodes 2, 4 or 16 bytes, least significant first. Nil for any other length.
    package init?(littleEndian bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 2, 4:
            self.init(short: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            let words = bytes.reversed()
            self.init(
                high: words.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: words.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    /// 2 bytes if there is a 16-bit form, otherwise 16.
    package var littleEndianBytes: [UInt8] {
        if let short { return [UInt8(truncatingIfNeeded: short), UInt8(truncatingIfNeeded: short >> 8)] }
        return longLittleEndianBytes
    }

    package var longLittleEndianBytes: [UInt8] {
        [low, high].flatMap { word in
            stride(from: UInt64(0), to: 64, by: 8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// `FFE0` if there is a 16-bit form, otherwise the full 128-bit form with dashes.
    package var description: String {
        if let short { return Self.digits(UInt64(short), count: 4) }
        return [
            Self.digits(high >> 32, count: 8), Self.digits(high >> 16, count: 4), Self.digits(high, count: 4),
            Self.digits(low >> 48, count: 4), Self.digits(low, count: 12),
        ].joined(separator: "-")
    }

    private static func digits(_ number: UInt64, count: Int) -> String {
        let digits = String(number & (UInt64.max >> (64 - 4 * UInt64(count))), radix: 16, uppercase: true)
        return String(repeating: "0", count: count - digits.count) + digits
    }
}
