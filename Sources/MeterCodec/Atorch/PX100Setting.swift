/// What a DL24 load can be told in the PX100 protocol: `B1 B2 <code> <two bytes> B6` (protocols.md 6.5).
package enum PX100Setting: Hashable, Sendable {
    /// The byte that a load answers every setting with.
    package static let acknowledgement: UInt8 = 0x6F

    case on(Bool)
    /// The load current in hundredths of an ampere, 0 to 25 599.
    case current(hundredths: Int)
    /// The voltage at which the load stops, in hundredths of a volt, 0 to 25 599.
    case voltageCutoff(hundredths: Int)
    /// Seconds, 0 to 65 535.
    case timer(seconds: Int)
    case clear

    /// The setting as it goes over the line; nil for a number that does not fit in.
    package var bytes: [UInt8]? {
        switch self {
        case .on(let isOn): Self.message(0x01, isOn ? 1 : 0, 0)
        case .current(let hundredths): Self.message(0x02, hundredths: hundredths)
        case .voltageCutoff(let hundredths): Self.message(0x03, hundredths: hundredths)
        case .timer(let seconds):
            UInt16(exactly: seconds).map { Self.message(0x04, UInt8($0 >> 8), UInt8($0 & 0xFF)) }
        case .clear: Self.message(0x05, 0, 0)
        }
    }

    static func message(_ code: UInt8, _ high: UInt8, _ low: UInt8) -> [UInt8] {
        [0xB1, 0xB2, code, high, low, 0xB6]
    }

    /// Whole units in the first byte, hundredths in the second.
    private static func message(_ code: UInt8, hundredths: Int) -> [UInt8]? {
        guard hundredths >= 0, let whole = UInt8(exactly: hundredths / 100) else { return nil }
        return message(code, whole, UInt8(hundredths % 100))
    }
}
