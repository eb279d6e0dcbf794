/// Hybrid logical timestamp of a write, ordered by milliseconds, counter and host (Docs/SettingsAndRebuild.md#stamps).
package struct Stamp: Hashable, Sendable {
    /// Milliseconds since 1970; at most `millisecondsMax`.
    package let milliseconds: UInt64
    package let counter: UInt16
    package let host: HostID

    /// Greatest time of a stamp, in 48 bits: enough until the year 10889.
    package static let millisecondsMax: UInt64 = (1 << 48) - 1

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

extension Stamp {
    /// Returns a stamp just above a deletion, but below every later write of a host. Two lifted stamps keep their order
    /// if they differ in milliseconds or counter.
    ///
    /// Its `HostID.high` is all ones, which sorts after every random UUID.
    package static func lifted(_ stamp: Stamp, above deletion: Stamp) -> Stamp {
        let time = stamp.milliseconds << 16 | UInt64(stamp.counter)
        return Stamp(
            milliseconds: deletion.milliseconds, counter: deletion.counter, host: HostID(high: .max, low: time))
    }

    /// Whether `lifted` made the stamp, which then names no host.
    package var isLifted: Bool { host.high == .max }
}

/// `<milliseconds>.<counter>.<host>`: decimal, decimal, UUID.
extension Stamp: CustomStringConvertible {
    package var description: String { "\(milliseconds).\(counter).\(host)" }

    /// Parses only the exact form of `description`: no sign, no leading zero, no number out of range.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "." as Character)
        guard parts.count == 3, let milliseconds = UInt64(parts[0]), let counter = UInt16(parts[1]),
            let host = HostID(parts[2])
        else { return nil }
        self.init(milliseconds: milliseconds, counter: counter, host: host)
        // Also rejects numbers above the maximum and empty parts.
        guard description == text.lowercased() else { return nil }
    }
}

extension UniqueID<HostTag> {
    /// Host id in the stamps of an administrator's writes.
    package static var nobody: Self { Self(high: 0, low: 0) }
}
