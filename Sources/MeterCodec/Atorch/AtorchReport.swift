package import Domain

/// The 36-byte report that an Atorch meter pushes once a second, big-endian (Docs/Protocols/Atorch.md#reports).
package struct AtorchReport: Sendable {
    package static let length = 36

    private let bytes: InlineArray<36, UInt8>
    package let type: AtorchReportType

    /// - Parameter raw: one report that `AtorchDecoder` has checked.
    package init(_ raw: UnsafeRawBufferPointer, type: AtorchReportType) {
        bytes = InlineArray(copying: raw)
        self.type = type
    }

    /// Check byte rule that the report follows. Nil does not make it invalid: several models send an unexplained check
    /// byte (Docs/Protocols/Atorch.md#check-byte).
    package var checkRule: AtorchCheck.Rule? { bytes.withRawBytes(AtorchCheck.rule(ofReport:)) }
    package var checkMatches: Bool { checkRule != nil }

    private func u8(_ offset: Int) -> Int { bytes.withRawBytes { Int($0.u8(offset)) } }
    private func u16(_ offset: Int) -> Int { bytes.withRawBytes { Int($0.u16BE(offset)) } }

    /// Reading without impossible values. Type 1 reports contain power; for types 2 and 3, it is computed.
    package var reading: Reading {
        var reading = Reading()
        bytes.withRawBytes { raw in
            for field in type.fields { reading[field.quantity] = field.value(in: raw) }
        }
        if type != .ac, let voltage = reading[.voltage], let current = reading[.current] {
            // Round to 0.1 mW, the resolution of voltage times current: 28.2 V times 0.06 A is exactly 1.692 W.
            reading[.power] = (voltage * current * 1e4).rounded() / 1e4
        }
        reading[.duration] = duration.map(Double.init)
        return reading
    }

    /// Duration of counting in seconds; nil if minutes or seconds exceed 59.
    package var duration: Int? {
        let (minutes, seconds) = (u8(type.timeOffset + 2), u8(type.timeOffset + 3))
        guard minutes < 60, seconds < 60 else { return nil }
        return u16(type.timeOffset) * 3600 + minutes * 60 + seconds
    }

    /// Whether a type 1 report's power is voltage times current times power factor, within 6 % and 1 W, as in all
    /// eighteen public reports.
    var powerAgrees: Bool {
        let reading = reading
        guard let voltage = reading[.voltage], let current = reading[.current], let power = reading[.power],
            let factor = reading[.powerFactor]
        else { return true }
        return Slack(steps: 1, part: 0.06).covers(power, voltage * current * factor)
    }

    /// Charge and energy in the meter's own steps.
    var counters: [Int] { raw { [.charge, .energy].contains($0) } }
    var settings: [Int] {
        raw { $0 == .price } + (type == .usb ? AtorchReportType.usbLimits.map { u16($0.offset) } : []) + [
            backlight ?? 0
        ]
    }

    private func raw(_ isWanted: (Quantity) -> Bool) -> [Int] {
        bytes.withRawBytes { raw in type.fields.filter { isWanted($0.quantity) }.map { Int($0.raw(in: raw)) } }
    }

    /// Highest value of `backlight`: screen always on.
    static let backlightMax = 60

    /// Power factor of a type 3 report: the byte before the check byte, in hundredths on a J7-H (fawno/ATORCH-HiDANCE,
    /// docs/J7-H). Nil for 0, as other models send, and for other types.
    package var powerFactor: Double? {
        guard type == .usb, u8(34) > 0 else { return nil }
        return Double(u8(34)) / 100
    }

    /// Power factor byte of a type 3 report with direct current: 1 in hundredths.
    static let powerFactorByte: UInt8 = 100

    /// Seconds until the screen turns off; 60 means always on. Nil above 60.
    package var backlight: Int? {
        let seconds = u8(type.timeOffset + 4)
        return seconds <= Self.backlightMax ? seconds : nil
    }

    private func limit(_ limit: (offset: Int, max: Int)) -> FrameDetail.Value {
        let raw = u16(limit.offset)
        return raw <= limit.max ? .number(Double(raw) / 100) : .unknown
    }
}

extension AtorchReport: FrameContent {
    package var model: ModelName? { type.model }

    package func forEachReading(_ body: (Reading) -> Void) { body(reading) }

    package var device: DeviceInfo? { DeviceInfo(model: type.model) }

    package var details: [FrameDetail] {
        var details = [
            FrameDetail("report_type", .integer(Int(type.rawValue))),
            .told("backlight_s", backlight.map { .integer($0) } ?? .unknown),
            FrameDetail("check_matches", .flag(checkMatches)),
        ]
        if type == .usb {
            details += zip(["over_voltage_V", "under_voltage_V", "over_current_A"], AtorchReportType.usbLimits)
                .map { .told($0, limit($1)) }
        }
        if let powerFactor { details.append(FrameDetail("power_factor", .number(powerFactor))) }
        return details
    }
}
