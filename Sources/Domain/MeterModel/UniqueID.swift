/// A random 128-bit id, written as a lower-case UUID. The tag separates types of ids.
package struct UniqueID<Tag>: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Generates a version 4, variant 1 UUID.
    package init(using rng: inout some RandomNumberGenerator) {
        high = (rng.next() & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
        low = (rng.next() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
    }

    /// Accepts upper and lower case.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == UUIDText.length else { return nil }
        let bytes = Array(text.utf8)
        guard
            let words = bytes.withUnsafeBufferPointer({ bytes in
                bytes.baseAddress.flatMap { UUIDText.read($0, inAnyCase: true) }
            })
        else { return nil }
        self.init(high: words.high, low: words.low)
    }
}

extension UniqueID: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool { (lhs.high, lhs.low) < (rhs.high, rhs.low) }
}

extension UniqueID: CustomStringConvertible {
    package var description: String {
        String(unsafeUninitializedCapacity: UUIDText.length) { text in
            guard let start = text.baseAddress else { return 0 }
            UUIDText.write(high: high, low: low, to: start)
            return UUIDText.length
        }
    }
}

/// A host is one `meterd`, bound to one machine (Docs/Leases.md#rule-11).
package enum HostTag {}
package typealias HostID = UniqueID<HostTag>
package enum SessionTag {}
package typealias SessionID = UniqueID<SessionTag>
/// A request repeated after a lost answer keeps its id, so that it does not run twice.
package enum RequestTag {}
package typealias RequestID = UniqueID<RequestTag>
