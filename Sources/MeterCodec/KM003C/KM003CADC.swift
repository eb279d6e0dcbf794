package import Domain

/// Measurements of a KM003C or KM002C: 44 or 40 bytes, little-endian
/// (Docs/Protocols/KM003C.md#what-becomes-of-the-payloads).
///
/// The vendor's paper describes 40 bytes. The last three, and the six bits before them, are unused and not zeroed. A
/// KM003C with newer firmware sends 44 bytes. Both forms begin with the same 36 bytes and two bits for the rate.
package struct KM003CADC: Sendable {
    package static let length = 44
    package static let shortLength = 40
    /// Maximum number of stored bytes. Those after the first 44 are not parsed.
    static let longestLength = 64

    package static func isLength(_ length: Int) -> Bool {
        length == shortLength || (Self.length...longestLength).contains(length)
    }

    private let bytes: InlineArray<44, UInt8>
    private let isShort: Bool

    package init(_ raw: UnsafeRawBufferPointer) {
        bytes = InlineArray(copying: raw)
        isShort = raw.count < Self.length
    }

    private func i32(_ offset: Int) -> Int32 { bytes.withRawBytes { $0.i32LE(offset) } }
    private func u16(_ offset: Int) -> UInt16 { bytes.withRawBytes { $0.u16LE(offset) } }
    private func u8(_ offset: Int) -> UInt8 { bytes.withRawBytes { $0.u8(offset) } }

    package var microvolts: Int32 { i32(0) }
    /// Current, positive from the female to the male connector.
    var microamperes: Int32 { i32(4) }
    /// Nil for the field's lowest number, which means "not measured". Captured answers contain that number while the
    /// meter samples at a high rate.
    package var celsius: Double? {
        let steps = bytes.withRawBytes { $0.i16LE(24) }
        return steps == .min ? nil : Double(steps) / 128
    }
    package var supplyVoltage: Double { Double(u16(34)) / 10_000 }
    /// Nil for an index without a rate. In the 40-byte form only the low two bits count. In the 44-byte form the index
    /// is a whole byte (okhsunrog/km003c-rs km003c-lib/src/adc.rs, where 4 means 10,000 per second).
    package var rate: KM003CRate? { KM003CRate(index: UInt16(isShort ? u8(36) & 3 : u8(36))) }

    package var reading: Reading {
        var reading = Reading()
        reading.setElectrical(microvolts: microvolts, microamperes: microamperes)
        reading[.temperature] = celsius
        reading[.cc1] = KM003CLineStep.tenthMillivolt.volts(u16(26))
        reading[.cc2] = KM003CLineStep.tenthMillivolt.volts(u16(28))
        reading[.dataPlus] = KM003CLineStep.tenthMillivolt.volts(u16(30))
        reading[.dataMinus] = KM003CLineStep.tenthMillivolt.volts(u16(32))
        reading[.supplyVoltage] = supplyVoltage
        return reading
    }

    /// Offset of the first value far outside the meter's range (50 V, 6 A by its label), if any. The only check that
    /// detects a payload joined from two answers.
    package var implausibleOffset: Int? {
        if !Self.isPlausible(microvolts: microvolts, microamperes: microamperes) { return 0 }
        if !isAveragePlausible(at: 8) { return 8 }
        if !isAveragePlausible(at: 12) { return 12 }
        if let celsius, !Self.temperatures.contains(celsius) { return 24 }
        if !(2...4).contains(supplyVoltage) || isTailEarly { return 34 }
        return nil
    }

    /// Returns whether an average agrees with its uncalibrated value, eight bytes later, within 10 % plus 100 mV or 100
    /// mA. Captured values agree within 0.25 %.
    ///
    /// Momentary values and averages differ widely while a charger and a phone negotiate (9.09 V against 1.85 V and
    /// 0.067 V against 0.894 V in one captured attach).
    private func isAveragePlausible(at offset: Int) -> Bool {
        let (calibrated, raw) = (Int64(i32(offset)), Int64(i32(offset + 8)))
        return abs(calibrated - raw) <= 100_000 + max(abs(calibrated), abs(raw)) / 10
    }

    var steadiness: KM003CSteadiness {
        KM003CSteadiness(
            level: StepLevel(voltage: Double(microvolts) / 1e6, current: Double(microamperes) / 1e6),
            average: StepLevel(voltage: Double(i32(8)) / 1e6, current: Double(i32(12)) / 1e6))
    }

    /// Whether two bytes before the tail were lost. Rate and flags (0 to 4, then 80) then take the place of the supply
    /// voltage, as 3.277 V, and their own place contains no flag.
    private var isTailEarly: Bool { !isShort && u8(34) <= 4 && u8(35) == 0x80 && u8(37) & 0x80 == 0 }

    /// Accepts up to twice the meter's rated voltage, and eight times its rated current.
    static func isPlausible(microvolts: Int32, microamperes: Int32) -> Bool {
        microvolts.magnitude <= voltageMax && microamperes.magnitude <= currentMax
    }

    /// Limits in microvolts and microamperes.
    private static let (voltageMax, currentMax): (UInt32, UInt32) = (100_000_000, 50_000_000)
    private static let temperatures = -60.0...200

    static var ranges: [Quantity: ClosedRange<Double>] {
        let (voltage, current) = (Double(voltageMax) / 1e6, Double(currentMax) / 1e6)
        return [.voltage: -voltage...voltage, .current: -current...current, .temperature: temperatures]
    }

    private func line(_ offset: Int) -> FrameDetail.Value {
        KM003CLineStep.millivolt.volts(u16(offset)).map { .number($0) } ?? .unknown
    }

    package var details: [FrameDetail] {
        let own = [
            FrameDetail("average_voltage_V", .number(Double(i32(8)) / 1e6)),
            FrameDetail("average_current_A", .number(Double(i32(12)) / 1e6)),
            FrameDetail("uncalibrated_average_voltage_V", .number(Double(i32(16)) / 1e6)),
            FrameDetail("uncalibrated_average_current_A", .number(Double(i32(20)) / 1e6)),
            FrameDetail("rate_sps", rate.map { .integer($0.samplesPerSecond) } ?? .unknown),
        ]
        guard !isShort else { return own }
        return own + [
            FrameDetail("cc2_average_V", line(38)), FrameDetail("dp_average_V", line(40)),
            FrameDetail("dn_average_V", line(42)),
            FrameDetail("adc_flags", .integer(Int(u8(37)))),
        ]
    }
}

/// A measurement and the meter's own averages. The next measurement must confirm one that differs from both the
/// averages and the previous measurement, as while a charger and a phone negotiate.
struct KM003CSteadiness: Successor {
    let level: StepLevel
    let average: StepLevel

    func breaks(with last: KM003CSteadiness) -> Bool { level.isStep(from: average) && level.isStep(from: last.level) }

    func isConfirmed(by next: KM003CSteadiness, after last: KM003CSteadiness?) -> Bool {
        level.isConfirmed(by: next.level, after: average)
    }
}

extension Reading {
    /// Sets voltage, current and power, which is computed because the meter sends none.
    mutating func setElectrical(microvolts: Int32, microamperes: Int32) {
        self[.voltage] = Double(microvolts) / 1e6
        self[.current] = Double(microamperes) / 1e6
        // Adding 0 turns a rounded -0 into 0.
        self[.power] = (Double(microvolts) * Double(microamperes) / 1e6).rounded() / 1e6 + 0
    }
}
