/// Time and author of a write, by a hybrid logical clock. All replicas order stamps in the same way: by milliseconds,
/// then counter, then host (Docs/SettingsAndRebuild.md#stamps).
package struct Stamp: Hashable, Sendable {
    /// Milliseconds since 1970; at most `millisecondsMax`.
    package let milliseconds: UInt64
    package let counter: UInt16
    package let host: HostID

    /// 48 bits, enough until the year 10889.
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

/// Stamps of properties that the rebuild lifts above a deletion (`RebuildPlan`).
extension Stamp {
    /// Returns a stamp just above a deletion, below every later write of a host. Two lifted stamps keep their order if
    /// they differ in milliseconds or counter. Every host computes the same stamp.
    ///
    /// The stamp's `HostID.high` is all ones, which no random UUID has and which sorts after all of them.
    package static func lifted(_ stamp: Stamp, above deletion: Stamp) -> Stamp {
        let time = stamp.milliseconds << 16 | UInt64(stamp.counter)
        return Stamp(
            milliseconds: deletion.milliseconds, counter: deletion.counter, host: HostID(high: .max, low: time))
    }

    /// Whether the rebuild made the stamp, which then contains no host.
    package var isLifted: Bool { host.high == .max }
}

/// Text as sent and stored: `<milliseconds>.<counter>.<host>`, decimal, decimal, UUID.
extension Stamp: CustomStringConvertible {
    package var description: String { "\(milliseconds).\(counter).\(host)" }

    /// Reads exactly what `description` prints: no sign, no leading zero, no number out of range.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "." as Character)
        guard parts.count == 3, let milliseconds = UInt64(parts[0]), let counter = UInt16(parts[1]),
            let host = HostID(parts[2])
        else { return nil }
        self.init(milliseconds: milliseconds, counter: counter, host: host)
        // Also rejects a number above the maximum and an empty part.
        guard description == text.lowercased() else { return nil }
    }
}

extension UniqueID<HostTag> {
    /// Host in the stamps of an administrator's writes.
    package static var nobody: Self { Self(high: 0, low: 0) }
}
