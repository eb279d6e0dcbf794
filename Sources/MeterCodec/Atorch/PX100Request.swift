package import Domain

/// Queries to a DL24 or a similar load: 6 bytes, `B1 B2 <code> 00 00 B6`
/// (Docs/Protocols/Atorch.md#loads-the-px100-queries).
package enum PX100Query: UInt8, CaseIterable, Sendable {
    case isOn = 0x10
    case voltage = 0x11
    case current = 0x12
    case time = 0x13
    case charge = 0x14
    case energy = 0x15
    case temperature = 0x16
    case setCurrent = 0x17
    case cutoff = 0x18
    case timer = 0x19

    package var bytes: [UInt8] { PX100.message(rawValue, 0, 0) }

    /// Returns whether an answer is plausible. Limits are twice the ratings of the largest of these loads (DLB-600W:
    /// 150 V, 40 A), so they reject only noise.
    package func allows(_ raw: UInt32) -> Bool {
        switch self {
        case .isOn: raw <= 1
        case .voltage: raw <= 400_000
        case .current: raw <= 80_000
        case .charge, .energy: true
        case .temperature: raw <= 200 || isBelowZero(raw)
        // Set as a byte of whole units and a byte of hundredths, so at most 255.99.
        case .setCurrent, .cutoff: raw <= 25_599
        case .time, .timer: raw >> 8 & 0xFF < 60 && raw & 0xFF < 60
        }
    }

    /// Returns whether `raw` may be a temperature from -50 to -1 °C, signed in two or in three bytes.
    private func isBelowZero(_ raw: UInt32) -> Bool {
        [0, 0xFF].contains(raw >> 16) && UInt16(truncatingIfNeeded: raw).isBelowZero(byUpTo: 50)
    }

    /// Returns the value in V, A, Wh, mAh, °C or seconds; for `isOn`, 1 means on. Nil for a temperature below zero,
    /// whose encoding is unpublished.
    package func value(of raw: UInt32) -> Double? {
        switch self {
        case .temperature where isBelowZero(raw): nil
        case .isOn, .charge, .temperature: Double(raw)
        case .voltage, .current, .energy: Double(raw) / 1000
        case .setCurrent, .cutoff: Double(raw) / 100
        case .time, .timer: Double(PX100.seconds(raw))
        }
    }

    package var quantity: Quantity? {
        switch self {
        case .voltage: .voltage
        case .current: .current
        case .time: .duration
        case .charge: .charge
        case .energy: .energy
        case .temperature: .temperature
        case .isOn, .setCurrent, .cutoff, .timer: nil
        }
    }
}

/// Orders to a DL24 or a similar load: 6 bytes, `B1 B2 <code> <high> <low> B6`, confirmed by the byte 6F.
package enum PX100Order: Hashable, Sendable {
    case isOn(Bool)
    /// Hundredths of an ampere, 0 to 25,599.
    case current(UInt16)
    /// Hundredths of a volt, 0 to 25,599. Below this voltage, the load switches itself off.
    case cutoff(UInt16)
    /// Time limit in seconds; 0 for none. The load stores whole minutes.
    case timer(UInt16)
    case resetCounters

    package static let hundredthsMax: UInt16 = 25_599

    /// Nil for any other command, or if the required number is missing.
    package init?(_ command: MeterCommand) {
        let number = command.number.map { UInt16(clamping: $0) }
        switch (command.kind, number) {
        case (.loadOn, nil): self = .isOn(true)
        case (.loadOff, nil): self = .isOn(false)
        case (.loadCurrent, _?): self = .current(UInt16(clamping: (command.number ?? 0) / 10))
        case (.loadCutoff, _?): self = .cutoff(UInt16(clamping: (command.number ?? 0) / 10))
        case (.loadTimer, let minutes?): self = .timer(UInt16(clamping: Int(minutes) * 60))
        case (.clearAll, nil): self = .resetCounters
        default: return nil
        }
    }

    /// Parses an order as a load does; nil for any other message.
    package init?(code: UInt8, _ high: UInt8, _ low: UInt8) {
        let word = UInt16(high) << 8 | UInt16(low)
        switch code {
        case 0x01 where word == 0x0100: self = .isOn(true)
        case 0x01 where word == 0: self = .isOn(false)
        // Reject hundredths above 99, because the load's reaction is unknown.
        case 0x02 where low < 100: self = .current(UInt16(high) * 100 + UInt16(low))
        case 0x03 where low < 100: self = .cutoff(UInt16(high) * 100 + UInt16(low))
        case 0x04: self = .timer(word)
        case 0x05: self = .resetCounters
        default: return nil
        }
    }

    package var bytes: [UInt8] {
        func hundredths(_ code: UInt8, _ value: UInt16) -> [UInt8] {
            let value = min(value, Self.hundredthsMax)
            return PX100.message(code, UInt8(value / 100), UInt8(value % 100))
        }
        switch self {
        case .isOn(let isOn): return PX100.message(0x01, isOn ? 1 : 0, 0)
        case .current(let value): return hundredths(0x02, value)
        case .cutoff(let value): return hundredths(0x03, value)
        case .timer(let seconds): return PX100.message(0x04, UInt8(seconds >> 8), UInt8(truncatingIfNeeded: seconds))
        case .resetCounters: return PX100.message(0x05, 0, 0)
        }
    }

    /// The query that reads the setting back, and its expected raw value. Nil for counters.
    package var readBack: (query: PX100Query, raw: UInt32)? {
        switch self {
        case .isOn(let isOn): (.isOn, isOn ? 1 : 0)
        case .current(let value): (.setCurrent, UInt32(value))
        case .cutoff(let value): (.cutoff, UInt32(value))
        case .timer(let seconds): (.timer, PX100.time(UInt32(seconds) / 60 * 60))
        case .resetCounters: nil
        }
    }
}

/// Common parts of all messages (misdoro/Electronic_load_px100, its paper on the PX-100 2.70; tshaddack/dl24
/// README.md).
package enum PX100 {
    package static let requestLength = 6
    package static let answerLength = 7
    /// Complete answer to an order.
    package static let done: UInt8 = 0x6F

    package static let requestStart: (UInt8, UInt8) = (0xB1, 0xB2)
    package static let requestEnd: UInt8 = 0xB6
    package static let answerStart: (UInt8, UInt8) = (0xCA, 0xCB)
    package static let answerEnd: (UInt8, UInt8) = (0xCE, 0xCF)

    static func message(_ code: UInt8, _ high: UInt8, _ low: UInt8) -> [UInt8] {
        [requestStart.0, requestStart.1, code, high, low, requestEnd]
    }

    /// - Parameter raw: one byte each for hours, minutes and seconds.
    package static func seconds(_ raw: UInt32) -> UInt32 {
        (raw >> 16 & 0xFF) * 3600 + (raw >> 8 & 0xFF) * 60 + raw & 0xFF
    }

    /// Returns a raw time: one byte each for hours (at most 255), minutes and seconds.
    package static func time(_ seconds: UInt32) -> UInt32 {
        min(seconds / 3600, 255) << 16 | (seconds / 60 % 60) << 8 | seconds % 60
    }
}
