package import Domain

/// One 64-byte HID report of a WITRN meter with measurements, little-endian (Docs/Protocols/WITRN.md#report).
package struct WITRNReport: Sendable {
    package static let length = 64
    package static let startMark: (UInt8, UInt8) = (0xFF, 0x55)
    /// Byte 8 of a report with measurements. An answer to another program's command contains 0A and overwrites the
    /// first values (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs), so it is ignored.
    package static let measurement: UInt8 = 0x1A
    /// Legal values of byte 9, the length of the remaining bytes. It is 52 in captured reports; 45 is enough for all
    /// values except the CC voltages.
    package static let payloadLengths: ClosedRange<UInt8> = 45...52

    /// Accepted voltages in volts. The meters measure up to 60 V (KHWLGH/WITRN-RS general.rs); an offset may cause
    /// values slightly below zero.
    package static let voltages: ClosedRange<Float> = -0.1...60
    /// Highest accepted current in amperes, in either direction. The meters are rated for 10 A; KHWLGH/WITRN-RS
    /// general.rs accepts up to 20.
    static let currentMax: Float = 20
    /// Accepted ampere-hours and watt-hours, in either direction: centuries at 5 V and 10 A.
    package static let counters: ClosedRange<Float> = -100_000_000...100_000_000
    /// Accepted volts of D+ and D-: twice those of a line shorted to 5 V.
    package static let dataLines: ClosedRange<Float> = -10...10
    /// Accepted degrees Celsius of an external probe. Without a probe the field contains -73, -75 or -100.
    package static let temperatures: ClosedRange<Float> = -40...150
    /// Maximum voltage of a CC line in tenths of a volt (USB Type-C Specification 2.2, table 4-3: 5.5 V). One C5 sent
    /// 185.
    static let ccMax: UInt8 = 55

    private let bytes: InlineArray<64, UInt8>

    private func float(_ offset: Int) -> Float { bytes.withRawBytes { $0.f32LE(offset) } }
    private func word(_ offset: Int) -> UInt32 { bytes.withRawBytes { $0.u32LE(offset) } }

    /// Seconds since the meter was switched on.
    var runTime_s: UInt32 { word(26) }

    /// Milliseconds since the meter was switched on, wrapping. Bytes 26 to 29 contain the seconds. Byte 3 contains the
    /// low eight bits of the milliseconds, byte 6 the milliseconds modulo 100 (fqueze, usb-power-profiling.js). If
    /// these contradict each other, the milliseconds count as 0.
    package var milliseconds: UInt32 { exactMilliseconds ?? runTime_s &* 1000 }

    /// Like `milliseconds`; nil if bytes 3 and 6 contradict each other, or if byte 2 is not the low byte of the
    /// seconds.
    private var exactMilliseconds: UInt32? {
        let (low, remainder) = (Int(bytes[3]), Int(bytes[6]))
        guard bytes[2] == UInt8(truncatingIfNeeded: runTime_s),
            let fraction = stride(from: low, to: 1000, by: 256).first(where: { $0 % 100 == remainder })
        else { return nil }
        return runTime_s &* 1000 &+ UInt32(fraction)
    }

    package static let interval_ms: UInt16 = 10

    /// Volts on the two CC lines; nil for a model without them, or if a value is impossible.
    private var ccVoltages: (Double, Double)? {
        let (cc1, cc2) = (bytes[55], bytes[56])
        guard cc1 | cc2 != 0, cc1 <= Self.ccMax, cc2 <= Self.ccMax else { return nil }
        return (Double(cc1) / 10, Double(cc2) / 10)
    }

    var isMeasurement: Bool { bytes[8] == Self.measurement }

    package var level: PDLevel {
        let (cc1, cc2) = ccVoltages ?? (0, 0)
        return PDLevel(
            voltage_mV: Int((float(46) * 1000).rounded()), current_mA: Int((float(50) * 1000).rounded()),
            cc1_mV: Int((cc1 * 1000).rounded()), cc2_mV: Int((cc2 * 1000).rounded()))
    }

    package static func checks(_ report: UnsafeRawBufferPointer) -> (payload: UInt8, whole: UInt8) {
        let payload = Checksum.sum8(UnsafeRawBufferPointer(rebasing: report[8..<62]))
        return (payload, payload &+ Checksum.sum8(UnsafeRawBufferPointer(rebasing: report[0..<8])))
    }

    static var ranges: [Quantity: ClosedRange<Double>] {
        let (current, line) = (Double(currentMax), Double(dataLines.lowerBound)...Double(dataLines.upperBound))
        return [
            .voltage: Double(voltages.lowerBound)...Double(voltages.upperBound), .current: -current...current,
            .temperature: Double(temperatures.lowerBound)...Double(temperatures.upperBound), .dataPlus: line,
            .dataMinus: line,
        ]
    }

    /// Returns the offset of the first impossible field, if any. The report must contain measurements.
    package static func implausibleOffset(_ report: UnsafeRawBufferPointer) -> Int? {
        if !payloadLengths.contains(report.u8(9)) { return 9 }
        if !voltages.contains(report.f32LE(46)) { return 46 }
        if !(-currentMax...currentMax).contains(report.f32LE(50)) { return 50 }
        return nil
    }
}

extension WITRNReport: PackedFrameContent {
    /// - Parameter raw: one report that `WITRNDecoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer) { bytes = InlineArray(copying: raw) }

    /// Nil, because only the USB ids identify the model.
    package var model: ModelName? { nil }

    /// Passes the measurement to `body`. Power is computed, because the meter does not send it, and has the current's
    /// sign.
    package func forEachReading(_ body: (Reading) -> Void) {
        guard isMeasurement else { return }
        var reading = Reading()
        let (voltage, current) = (Double(float(46)), Double(float(50)))
        reading[.voltage] = voltage
        reading[.current] = current
        // Adding 0 turns a -0 into 0.
        reading[.power] = voltage * current + 0
        let (energy, charge) = (float(18), float(14))
        reading[.energy] = Self.counters.contains(energy) ? Double(energy) : nil
        reading[.charge] = Self.counters.contains(charge) ? Double(charge) * 1000 : nil
        let celsius = float(42)
        reading[.temperature] = Self.temperatures.contains(celsius) ? Double(celsius) : nil
        let (plus, minus) = (float(30), float(34))
        reading[.dataPlus] = Self.dataLines.contains(plus) ? Double(plus) : nil
        reading[.dataMinus] = Self.dataLines.contains(minus) ? Double(minus) : nil
        if let (cc1, cc2) = ccVoltages {
            reading[.cc1] = cc1
            reading[.cc2] = cc2
        }
        reading[.duration] = Double(word(22))
        body(reading)
    }

    /// The report's time on the meter's clock, correct even if the host reads several reports late (as in
    /// fqueze/usb-power-profiling usb-power-profiling.js). Truncating it to 16 bits is exact, because 65,536 divides
    /// the clock's range.
    package var sampleTicks: SampleTicks? {
        guard isMeasurement, let tick = exactMilliseconds.map(UInt16.init(truncatingIfNeeded:)) else { return nil }
        return SampleTicks(oldest: tick, newest: tick, step: Self.interval_ms, count: 1)
    }

    /// USB PD report of a measurement: voltages and current only. A message on the CC line has its own report
    /// (`WITRNPowerDelivery`).
    package var powerDelivery: PDReport? { isMeasurement ? PDReport(milliseconds: milliseconds, level: level) : nil }

    package var countingGroup: Int? { isMeasurement ? selectedGroup : nil }
    private var selectedGroup: Int { Int(bytes[54]) + 1 }

    /// Further values of the report; for an answer to another program only the command number, because the answer
    /// overwrites the fields.
    package var details: [FrameDetail] {
        guard isMeasurement else { return [FrameDetail("command", .integer(Int(bytes[8])))] }
        let internalCelsius = float(38)
        return [
            .told("selected_group", .integer(selectedGroup)),
            .told("recorder_threshold_A", .number(Double(bytes.withRawBytes { $0.u16LE(12) }) / 1000)),
            .told("power_on_s", .integer(Int(runTime_s))),
            FrameDetail("clock_ms", .integer(Int(milliseconds))),
            FrameDetail(
                "internal_temperature_C", internalCelsius.isFinite ? .number(Double(internalCelsius)) : .unknown),
        ]
    }
}
