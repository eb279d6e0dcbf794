package import Domain

/// One 64-byte HID report of a KM001 Pro, an ACD15P or a C13P, little-endian (Docs/Protocols/KM001.md#reports).
///
/// Without a checksum, a sample is recognised by its first bytes and plausible values. Power must fit voltage times
/// current. A KM001 Pro sends voltage and current twice, and both must agree.
package struct KM001Report: Sendable {
    package static let length = 64
    package static let startMark: UInt8 = 0xAA
    /// Third to fifth byte of every known report.
    package static let mark: [UInt8] = [0x62, 0x05, 0x0B]

    /// Offsets in a sample. Voltage, current and power in millionths start at `values`, 4 bytes each, followed by the
    /// data lines.
    struct Layout: Sendable {
        /// The report's second byte: its number of meaningful bytes.
        var meaningful: UInt8
        var values: Int
        /// Steps per volt of D+ and D-.
        var dataLineScale: Double
        var temperature: Int
    }

    static func layout(of dialect: KM001Dialect) -> Layout {
        switch dialect {
        case .km001Pro: Layout(meaningful: 0x25, values: 6, dataLineScale: 1e3, temperature: 34)
        case .acd15p: Layout(meaningful: 0x40, values: 8, dataLineScale: 1e6, temperature: 36)
        }
    }

    /// Accepted voltages in microvolts, slightly below zero because of an offset; the meters' own limits are
    /// unpublished.
    package static let voltages: ClosedRange<Int32> = -100_000...60_000_000
    /// Maximum in microamperes, in either direction.
    static let currentMax: UInt32 = 12_000_000
    /// In volts, for data and CC lines.
    static let lineMax = 10.0
    /// In degrees Celsius.
    package static let temperatures: ClosedRange<Double> = -40...150
    /// Returns the allowed difference between power and voltage times current, in watts. A KM001 Pro's published sample
    /// is 5 % off, an ACD15P's exact.
    private static func powerSlack(of dialect: KM001Dialect) -> Slack {
        dialect == .km001Pro ? Slack(steps: 0.25, part: 0.15) : Slack(steps: 0.002, part: 0.01)
    }

    /// Allowed differences between a KM001 Pro's two voltages and two currents. In the published sample, they differ by
    /// 75 µV and 5 %.
    private static let secondVoltageSlack = Slack(steps: 0.05, part: 0.02)
    private static let secondCurrentSlack = Slack(steps: 0.05, part: 0.15)
    /// Bytes 5 to 7 of an ACD15P's measurement, from the one published report (Docs/Protocols/KM001.md#reports).
    private static let acd15pMark: [UInt8] = [0x00, 0xEB, 0x01]

    private let bytes: InlineArray<64, UInt8>

    private func read<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value { bytes.withRawBytes(body) }

    private var dialect: KM001Dialect? { read { Self.dialect(of: $0) } }

    /// Returns the dialect of a sample; nil for any other report. Bytes 5 to 7 must match, because a KM001 Pro sends
    /// reports between its samples that begin like an ACD15P's, but with zeros in these bytes.
    static func dialect(of report: UnsafeRawBufferPointer) -> KM001Dialect? {
        KM001Dialect.allCases.first { dialect in
            let layout = layout(of: dialect)
            guard report.u8(1) == layout.meaningful else { return false }
            return dialect == .km001Pro ? report.u8(5) == 0x01 : report[5..<8].elementsEqual(acd15pMark)
        }
    }

    static func implausibleOffset(_ report: UnsafeRawBufferPointer, _ dialect: KM001Dialect) -> Int? {
        let layout = layout(of: dialect)
        let place = layout.values
        if !voltages.contains(report.i32LE(place)) { return place }
        if report.i32LE(place + 4).magnitude > currentMax { return place + 4 }
        func value(_ offset: Int) -> Double { Double(report.i32LE(offset)) / 1e6 }
        let (voltage, current) = (value(place), value(place + 4))
        if !powerSlack(of: dialect).covers(value(place + 8), voltage * current) { return place + 8 }
        if dialect == .km001Pro {
            if !secondVoltageSlack.covers(voltage, value(26)) { return 26 }
            if !secondCurrentSlack.covers(current, value(30)) { return 30 }
        }
        for line in stride(from: place + 12, through: dialect == .km001Pro ? place + 16 : place + 24, by: 4)
        where !(-lineMax...lineMax).contains(Double(report.i32LE(line)) / layout.dataLineScale) {
            return line
        }
        if !temperatures.contains(temperature(report, dialect)) { return layout.temperature }
        // A KM001 Pro's values are followed by zeros and a last byte of unknown meaning.
        if dialect == .km001Pro, let rest = report[37..<63].firstIndex(where: { $0 != 0 }) { return rest }
        return nil
    }

    static var ranges: [Quantity: ClosedRange<Double>] {
        let current = Double(currentMax) / 1e6
        return [
            .voltage: Double(voltages.lowerBound) / 1e6...Double(voltages.upperBound) / 1e6,
            .current: -current...current,
            .dataPlus: -lineMax...lineMax, .dataMinus: -lineMax...lineMax, .temperature: temperatures,
        ]
    }

    private static func temperature(_ report: UnsafeRawBufferPointer, _ dialect: KM001Dialect) -> Double {
        let offset = layout(of: dialect).temperature
        return dialect == .km001Pro ? Double(report.i16LE(offset)) / 10 : Double(report.i32LE(offset)) / 1e6
    }
}

extension KM001Report: PackedFrameContent {
    /// - Parameter raw: one report that `KM001Decoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer) { bytes = InlineArray(copying: raw) }

    /// Nil, because only the USB texts name the model.
    package var model: ModelName? { nil }

    /// Passes the measurement to `body`. Its power is the meter's own value, not voltage times current.
    package func forEachReading(_ body: (Reading) -> Void) {
        guard let dialect else { return }
        let reading = read { raw in
            let layout = Self.layout(of: dialect)
            let place = layout.values
            var reading = Reading()
            reading[.voltage] = Double(raw.i32LE(place)) / 1e6
            reading[.current] = Double(raw.i32LE(place + 4)) / 1e6
            reading[.power] = Double(raw.i32LE(place + 8)) / 1e6
            reading[.temperature] = Self.temperature(raw, dialect)
            reading[.dataPlus] = Double(raw.i32LE(place + 12)) / layout.dataLineScale
            reading[.dataMinus] = Double(raw.i32LE(place + 16)) / layout.dataLineScale
            if dialect == .acd15p {
                reading[.cc1] = Double(raw.i32LE(place + 20)) / 1e6
                reading[.cc2] = Double(raw.i32LE(place + 24)) / 1e6
            }
            return reading
        }
        body(reading)
    }

    /// Fields of unknown meaning, among them a KM001 Pro's second voltage and current. For a report between samples:
    /// all its bytes.
    package var details: [FrameDetail] {
        switch dialect {
        case .km001Pro:
            read { raw in
                [
                    FrameDetail("second_voltage_V", .number(Double(raw.i32LE(26)) / 1e6)),
                    FrameDetail("second_current_A", .number(Double(raw.i32LE(30)) / 1e6)),
                    FrameDetail("unknown_36", .integer(Int(raw.u8(36)))),
                    FrameDetail("unknown_63", .integer(Int(raw.u8(63)))),
                ]
            }
        case .acd15p: [FrameDetail("unknown_hex", .text(read { Hex.encode($0[40...]) }))]
        case nil: [FrameDetail("payload_hex", .text(read { Hex.encode($0[1...]) }))]
        }
    }
}
