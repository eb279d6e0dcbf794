/// What can be asked of a DL24 load in the PX100 protocol, which it speaks beside its reports over the same link:
/// `B1 B2 <code> 00 00 B6` (protocols.md 6.5). Answers take up to a second; an unanswered query is asked again.
package enum PX100Query: UInt8, CaseIterable, Sendable {
    case isOn = 0x10
    case voltage = 0x11
    case current = 0x12
    case time = 0x13
    case charge = 0x14
    case energy = 0x15
    case temperature = 0x16
    case currentLimit = 0x17
    case voltageCutoff = 0x18
    case timer = 0x19

    package var bytes: [UInt8] { PX100Setting.message(rawValue, 0, 0) }
}

/// The answer to a `PX100Query`: `CA CB <3 bytes> CE CF`. It does not say which query it answers.
package struct PX100Answer: Hashable, Sendable {
    package static let length = 7

    private let first: UInt8
    private let second: UInt8
    private let third: UInt8

    /// - Returns: nil unless the bytes are exactly one answer.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes[0] == 0xCA, bytes[1] == 0xCB, bytes[5] == 0xCE, bytes[6] == 0xCF
        else { return nil }
        (first, second, third) = (bytes[2], bytes[3], bytes[4])
    }

    /// The value as the answer to `query`: volts, amperes, ampere-hours, watt-hours, degrees Celsius, seconds for both
    /// times, 1 or 0 for `isOn`.
    package func value(for query: PX100Query) -> Double {
        let low = Int(second) << 8 | Int(third)
        let whole = Int(first) << 16 | low
        return switch query {
        case .voltage, .current, .charge, .energy: Double(whole) / 1000
        case .currentLimit, .voltageCutoff: Double(low) / 100
        case .time, .timer: Double(Int(first) * 3600 + Int(second) * 60 + Int(third))
        case .temperature: Double(whole)
        case .isOn: whole == 0 ? 0 : 1
        }
    }
}
