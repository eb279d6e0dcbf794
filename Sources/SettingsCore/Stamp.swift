package import MeterModel

/// When and where a value was written, by a hybrid logical clock. Any two are ordered, and nobody's order differs.
///
/// Order: milliseconds, then counter, then host (leases-and-sync.md, section 2).
package struct Stamp: Hashable, Sendable {
    /// Since 1970. At most `millisecondsMax`.
    package let milliseconds: UInt64
    package let counter: UInt16
    package let host: HostID

    /// 48 bits: the year 10889.
    package static let millisecondsMax: UInt64 = (1 << 48) - 1

    /// Milliseconds above the maximum are taken as the maximum.
    package init(milliseconds: UInt64, counter: UInt16, host: HostID) {
        self.milliseconds = min(milliseconds, Self.millisecondsMax)
        self.counter = counter
        self.host = host
    }
}

extension Stamp: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.milliseconds, lhs.counter, lhs.host) < (rhs.milliseconds, rhs.counter, rhs.host)
    }
}

/// The text that travels: `<milliseconds>.<counter>.<host>`, decimal, decimal, UUID.
extension Stamp: CustomStringConvertible {
    package var description: String { "\(milliseconds).\(counter).\(host)" }

    /// Reads what `description` prints and nothing else: no sign, no leading zero, no number out of range.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "." as Character, omittingEmptySubsequences: false)
        guard parts.count == 3, let milliseconds = UInt64(parts[0]), milliseconds <= Self.millisecondsMax,
            let counter = UInt16(parts[1]), let host = HostID(parts[2])
        else { return nil }
        self.init(milliseconds: milliseconds, counter: counter, host: host)
        guard description == text.lowercased() else { return nil }
    }
}
