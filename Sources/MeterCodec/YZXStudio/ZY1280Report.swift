package import Domain

/// The 28 bytes that a ZY1280 or ZY1276 sends four times a second, little-endian (Docs/Protocols/ZY1280.md#report).
package struct ZY1280Report: Sendable {
    package static let length = 28
    package static let mark: [UInt8] = [0xAB, 0x00, 0x06]

    /// Accepted voltages in 0.1 mV: up to twice the meters' 24 V (unverified), and slightly below zero for an offset.
    package static let voltages: ClosedRange<Int32> = -1000...480_000
    /// Highest accepted current in either direction, in 0.1 mA: twice the meters' 5 A (unverified).
    static let currentMax: UInt32 = 100_000
    /// Highest accepted voltage of D+ and D- in millivolts: twice that of a line shorted to 5 V.
    static let dataLineMax: UInt16 = 10_000
    /// Accepted depth of D+ and D- below zero, in millivolts. A negative value is reported as unknown.
    private static let dataLineBelowZero: UInt16 = 500

    private let bytes: InlineArray<28, UInt8>

    package static func check(_ report: UnsafeRawBufferPointer) -> UInt8 {
        Checksum.sum8(UnsafeRawBufferPointer(rebasing: report.prefix(length - 1)))
    }

    static var ranges: [Quantity: ClosedRange<Double>] {
        let (current, line) = (Double(currentMax) / 1e4, 0...Double(dataLineMax) / 1000)
        return [
            .voltage: Double(voltages.lowerBound) / 1e4...Double(voltages.upperBound) / 1e4,
            .current: -current...current,
            .dataPlus: line, .dataMinus: line,
        ]
    }

    package static func implausibleOffset(_ report: UnsafeRawBufferPointer) -> Int? {
        if !voltages.contains(report.i32LE(3)) { return 3 }
        if report.i32LE(7).magnitude > currentMax { return 7 }
        return [23, 25].first { offset in
            !report.u16LE(offset).isPossible(upTo: dataLineMax, orBelowZeroBy: dataLineBelowZero)
        }
    }

    private static func dataLine(_ report: UnsafeRawBufferPointer, _ offset: Int) -> Double? {
        let word = report.u16LE(offset)
        return word <= dataLineMax ? Double(word) / 1000 : nil
    }

    /// Converts a counter in ten-thousandths; nil if the signed field is negative, which has never been seen.
    private static func counter(_ report: UnsafeRawBufferPointer, _ offset: Int) -> Double? {
        let word = report.i32LE(offset)
        return word < 0 ? nil : Double(word)
    }
}

extension ZY1280Report: PackedFrameContent {
    /// - Parameter raw: one report that `ZY1280Decoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer) { bytes = InlineArray(copying: raw) }

    package var model: ModelName? { nil }

    /// Passes the measurement to `body`. Power is computed, because the meter does not send it. The current is signed
    /// and D- precedes D+, as in CursedHardware/yzx-usb-meter and ReVanTis/ZY1280Monitor, unlike in
    /// fqueze/usb-power-profiling.
    package func forEachReading(_ body: (Reading) -> Void) {
        let reading = bytes.withRawBytes { raw in
            var reading = Reading()
            let (voltage, current) = (Double(raw.i32LE(3)), Double(raw.i32LE(7)))
            reading[.voltage] = voltage / 1e4
            reading[.current] = current / 1e4
            // Adding 0 turns a -0 into 0.
            reading[.power] = voltage * current / 1e8 + 0
            reading[.energy] = Self.counter(raw, 15).map { $0 / 1e4 }
            reading[.charge] = Self.counter(raw, 11).map { $0 / 10 }
            reading[.dataPlus] = Self.dataLine(raw, 25)
            reading[.dataMinus] = Self.dataLine(raw, 23)
            // The field is in hundredths of a second and counts only while a current flows.
            reading[.duration] = Double(raw.u32LE(19)) / 100
            return reading
        }
        body(reading)
    }
}
