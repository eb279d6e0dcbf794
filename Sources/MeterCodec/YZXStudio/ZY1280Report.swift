package import Domain

/// The 28 bytes that a ZY1280 or ZY1276 pushes four times a second, little-endian (Docs/Protocols/ZY1280.md#report).
package struct ZY1280Report: Sendable {
    package static let length = 28
    package static let mark: [UInt8] = [0xAB, 0x00, 0x06]

    /// Accepted voltages, in 0.1 mV: twice the meters' 24 V (unverified), and slightly below zero for an offset.
    package static let voltages: ClosedRange<Int32> = -1000...480_000
    /// Highest accepted current in either direction, in 0.1 mA: twice the meters' 5 A (unverified).
    static let currentMax: UInt32 = 100_000
    /// Highest accepted voltage of a data line in millivolts: twice the voltage of a USB data line that is shorted to a
    /// supply of 5 V.
    static let dataLineMax: UInt16 = 10_000
    /// Accepted distance below zero of a data line, in millivolts. Such a value is reported as unknown.
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

    /// Returns the offset of the first impossible field, if any.
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

    /// Returns a counter in ten-thousandths. Nil above half its range: as a signed number it would be negative, which
    /// has never been seen although the current may be negative.
    private static func counter(_ report: UnsafeRawBufferPointer, _ offset: Int) -> Double? {
        let word = report.i32LE(offset)
        return word < 0 ? nil : Double(word)
    }
}

extension ZY1280Report: PackedFrameContent {
    /// - Parameter raw: one report that `ZY1280Decoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer) { bytes = InlineArray(copying: raw) }

    package var model: ModelName? { nil }

    /// Calls `body` with the reading. Power is computed, because the meter does not send it. The current is signed in
    /// CursedHardware/yzx-usb-meter and ReVanTis/ZY1280Monitor, but not in fqueze/usb-power-profiling. D- precedes D+
    /// in the first two programs, but follows D+ in the third. This decoder follows the first two.
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
            // The field is in hundredths of a second and does not increase without a current.
            reading[.duration] = Double(raw.u32LE(19)) / 100
            return reading
        }
        body(reading)
    }
}
