/// When and where a value was written, by a hybrid logical clock. Any two stamps are ordered, and in the same way
/// everywhere.
///
/// The order is by milliseconds, then counter, then host (Docs/SettingsAndRebuild.md#stamps).
package struct Stamp: Hashable, Sendable {
    /// Since 1970; at most `millisecondsMax`.
    package let milliseconds: UInt64
    package let counter: UInt16
    package let host: HostID

    /// 48 bits, enough until the year 10889.
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

/// Stamps that no clock issued: those of properties that the rebuild lifts above a deletion (`RebuildPlan`).
extension Stamp {
    /// The place just above a deletion, below everything that a host writes after it. Keeps the order of the lifted
    /// stamps, to the millisecond and counter, and is the same whoever lifts.
    ///
    /// The host stands for nobody: a `HostID.high` of all ones occurs in no UUID that anybody draws, and is greater
    /// than all of them.
    package static func lifted(_ stamp: Stamp, above deletion: Stamp) -> Stamp {
        let time = stamp.milliseconds << 16 | UInt64(stamp.counter)
        return Stamp(
            milliseconds: deletion.milliseconds, counter: deletion.counter, host: HostID(high: .max, low: time))
    }

    /// Whether the rebuild made it; its host is nobody.
    package var isLifted: Bool { host.high == .max }
}

/// The text sent and stored: `<milliseconds>.<counter>.<host>`, decimal, decimal, UUID.
extension Stamp: CustomStringConvertible {
    package var description: String { "\(milliseconds).\(counter).\(host)" }

    /// Reads exactly what `description` prints: no sign, no leading zero, no number out of range.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "." as Character)
        guard parts.count == 3, let milliseconds = UInt64(parts[0]), let counter = UInt16(parts[1]),
            let host = HostID(parts[2])
        else { return nil }
        self.init(milliseconds: milliseconds, counter: counter, host: host)
        // Which also tells a number that was too great, and an empty part.
        guard description == text.lowercased() else { return nil }
    }
}

extension UniqueID<HostTag> {
    /// The host in stamps of what no host wrote: an administrator's.
    package static var nobody: Self { Self(high: 0, low: 0) }
}
