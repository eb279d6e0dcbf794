/// Id of a recording or a `Mark`. Two hosts never make the same id, even with wrong clocks (Docs/Leases.md#rule-7).
package struct RecordingID: Hashable, Sendable {
    package var host: HostID
    package var meter: MeterID
    /// Fencing token of the lease at the start; 0 without a lease. For a mark, a number from 0 that makes its short id
    /// unique.
    package var token: UInt64
    /// Start by the host's system clock.
    package var started: WallTime

    package init(host: HostID, meter: MeterID, token: UInt64, started: WallTime) {
        self.host = host
        self.meter = meter
        self.token = token
        self.started = started
    }

    /// `host/meter/token/start`: percent-encoded meter, start in milliseconds since 1970.
    package var recordName: String {
        "\(host)/\(meter.description.percentEncoded)/\(token)/\(started.millisecondsSince1970)"
    }

    package init?(recordName: String) {
        let parts = recordName.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, let host = HostID(parts[0]), let meter = String(parts[1]).percentDecoded,
            let id = MeterID(meter), let token = UInt64(parts[2]), let start = Int64(parts[3])
        else { return nil }
        self.init(host: host, meter: id, token: token, started: WallTime(millisecondsSince1970: start))
    }

    /// Short id for the command line, equal on every host: FNV-1a of `recordName`, folded to 32 bits, as eight
    /// hexadecimal digits.
    package var short: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in recordName.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(UInt32(truncatingIfNeeded: hash ^ hash >> 32), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension RecordingID: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        guard lhs.started == rhs.started else { return lhs.started < rhs.started }
        return lhs.recordName < rhs.recordName
    }
}
