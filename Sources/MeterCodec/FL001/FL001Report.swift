package import Domain

/// One 64-byte HID report of an FL001 Super: big-endian floats, then a CRC (Docs/Protocols/FL001.md; one source,
/// fqueze/usb-power-profiling usb-power-profiling.js).
package struct FL001Report: Sendable {
    package static let length = 64
    /// First three bytes of every known report.
    package static let mark: [UInt8] = [0x00, 0x03, 0x3B]
    /// Offset of the CRC-16/MODBUS of all bytes before it, low byte first.
    package static let checkOffset = 62
    /// Least time between two reports in milliseconds (fqueze/usb-power-profiling README.md).
    package static let interval_ms: Int64 = 32

    /// Accepted voltages in volts, with a small margin below zero; the meter's own limits are not published.
    package static let voltages: ClosedRange<Float> = -0.1...60
    /// Highest accepted current in amperes, in either direction.
    static let currentMax: Float = 12
    /// Highest accepted power in watts, in either direction.
    static let powerMax: Float = 720
    /// Accepted volts of a data line.
    package static let dataLines: ClosedRange<Float> = -10...10
    /// Accepted degrees Celsius.
    package static let temperatures: ClosedRange<Float> = -40...150

    private let bytes: InlineArray<64, UInt8>

    private func float(_ offset: Int) -> Float { bytes.withRawBytes { $0.f32BE(offset) } }

    static var ranges: [Quantity: ClosedRange<Double>] {
        func range(_ floats: ClosedRange<Float>) -> ClosedRange<Double> {
            Double(floats.lowerBound)...Double(floats.upperBound)
        }
        return [
            .voltage: range(voltages), .current: range(-currentMax...currentMax), .power: range(-powerMax...powerMax),
            .dataPlus: range(dataLines), .dataMinus: range(dataLines), .temperature: range(temperatures),
        ]
    }

    /// Returns the offset of the first impossible voltage, current or power, if any: such a report is no measurement.
    /// Other impossible values are reported as unknown.
    static func implausibleOffset(_ report: UnsafeRawBufferPointer) -> Int? {
        if !voltages.contains(report.f32BE(3)) { return 3 }
        if !(-currentMax...currentMax).contains(report.f32BE(7)) { return 7 }
        if !(-powerMax...powerMax).contains(report.f32BE(11)) { return 11 }
        return nil
    }
}

extension FL001Report: PackedFrameContent {
    /// - Parameter raw: one report that `FL001Decoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer) { bytes = InlineArray(copying: raw) }

    /// Always nil, because only the USB ids identify the model.
    package var model: ModelName? { nil }

    /// Calls `body` with the reading, whose power is the meter's own value.
    package func forEachReading(_ body: (Reading) -> Void) {
        func value(_ offset: Int, in range: ClosedRange<Float>) -> Double? {
            let float = float(offset)
            return range.contains(float) ? Double(float) : nil
        }
        var reading = Reading()
        reading[.voltage] = Double(float(3))
        // Adding 0 turns a -0 into 0.
        reading[.current] = Double(float(7)) + 0
        reading[.power] = Double(float(11)) + 0
        reading[.dataPlus] = value(15, in: Self.dataLines)
        reading[.dataMinus] = value(19, in: Self.dataLines)
        reading[.temperature] = value(23, in: Self.temperatures)
        body(reading)
    }

    /// The second temperature, equal to the first in the only source's reports, and the bytes of unknown meaning.
    package var details: [FrameDetail] {
        let second = float(27)
        return [
            FrameDetail(
                "second_temperature_C", Self.temperatures.contains(second) ? .number(Double(second)) : .unknown),
            FrameDetail("unknown_hex", .text(bytes.withRawBytes { Hex.encode($0[31..<Self.checkOffset]) })),
        ]
    }
}
