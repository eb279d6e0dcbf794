/// A 128-bit identifier that somebody made up once, written as a UUID: `6f1c2a34-…` in lower case.
///
/// The tag keeps a host's id from being taken for a session's. Where the bits come from is the maker's business;
/// nothing here throws dice.
package struct UniqueID<Tag>: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Draws one. Version 4, variant 1, so that other programs take it for the UUID it is.
    package init(using dice: inout some RandomNumberGenerator) {
        high = (dice.next() & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
        low = (dice.next() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
    }

    /// Reads what `description` prints, in any case.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (position, byte) in bytes.enumerated() {
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = byte.hexDigitValue else { return nil }
            if digits < 16 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
            digits += 1
        }
        self.init(high: words.0, low: words.1)
    }
}

extension UniqueID: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool { (lhs.high, lhs.low) < (rhs.high, rhs.low) }
}

extension UniqueID: CustomStringConvertible {
    package var description: String {
        // Each stamp of each property prints one, so it is done without intermediate texts.
        String(unsafeUninitializedCapacity: 36) { text in
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    text.initializeElement(at: position, to: UInt8(ascii: "-"))
                    position += 1
                }
                let digit = UInt8(truncatingIfNeeded: (index < 16 ? high : low) >> UInt64(60 - index % 16 * 4)) & 0xF
                text.initializeElement(
                    at: position, to: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                position += 1
            }
            return position
        }
    }
}

/// A host: one `meterd`, bound to one machine (leases-and-sync.md, section 1, rule 11).
package enum HostTag {}
package typealias HostID = UniqueID<HostTag>
/// One run of a `meterd`.
package enum SessionTag {}
package typealias SessionID = UniqueID<SessionTag>
/// One attempt at something that must not happen twice when its answer is lost.
package enum RequestTag {}
package typealias RequestID = UniqueID<RequestTag>
