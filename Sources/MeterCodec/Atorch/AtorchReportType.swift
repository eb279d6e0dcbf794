package import Domain

/// Type byte of a message; it determines the layout of a report (Docs/Protocols/Atorch.md#reports).
package enum AtorchReportType: UInt8, CaseIterable, Sendable {
    case ac = 1
    case dc = 2
    case usb = 3

    package var model: ModelName {
        switch self {
        case .ac: .atorchAC
        case .dc: .atorchDC
        case .usb: .atorchUSB
        }
    }

    package init?(model: ModelName) {
        guard let type = Self.allCases.first(where: { $0.model == model }) else { return nil }
        self = type
    }

    /// Offset of the counting duration: hours u16, minutes u8, seconds u8. The backlight u8 follows.
    package var timeOffset: Int { self == .usb ? 23 : 26 }

    package var fields: [AtorchField] {
        switch self {
        case .ac: Self.acFields
        case .dc: Self.dcFields
        case .usb: Self.usbFields
        }
    }

    private static let acFields = [
        AtorchField(.voltage, at: 4, bytes: 3, .dividedBy(10), max: 10_000),
        AtorchField(.current, at: 7, bytes: 3, .dividedBy(1000), max: 500_000),
        AtorchField(.power, at: 10, bytes: 3, .dividedBy(10), max: 5_000_000),
        AtorchField(.energy, at: 13, bytes: 4, .times(10), max: 99_999_999),
        AtorchField(.price, at: 17, bytes: 3, .dividedBy(100), max: 9_999_999),
        AtorchField(.frequency, at: 20, bytes: 2, .dividedBy(10), max: 5000),
        AtorchField(.powerFactor, at: 22, bytes: 2, .dividedBy(1000), max: 1000),
        AtorchField(.temperature, at: 24, bytes: 2, .dividedBy(1), max: 200),
    ]

    /// Fields of a type 2 report. Charge has steps of 10 mAh, energy of 10 Wh: a DL24's 92.30 Ah at 12 V match its 1110
    /// Wh (Docs/Protocols/Atorch.md#reports).
    private static let dcFields = [
        AtorchField(.voltage, at: 4, bytes: 3, .dividedBy(10), max: 20_000),
        AtorchField(.current, at: 7, bytes: 3, .dividedBy(1000), max: 2_000_000),
        AtorchField(.charge, at: 10, bytes: 3, .times(10), max: 9_999_999),
        AtorchField(.energy, at: 13, bytes: 4, .times(10), max: 99_999_999),
        AtorchField(.price, at: 17, bytes: 3, .dividedBy(100), max: 9_999_999),
        AtorchField(.temperature, at: 24, bytes: 2, .dividedBy(1), max: 200),
    ]

    /// Fields of a type 3 report. Charge is in single milliampere-hours, as recordings of a UD18 prove; another program
    /// multiplies it by ten (Docs/Protocols/Atorch.md#reports).
    private static let usbFields = [
        AtorchField(.voltage, at: 4, bytes: 3, .dividedBy(100), max: 10_000),
        AtorchField(.current, at: 7, bytes: 3, .dividedBy(100), max: 5000),
        AtorchField(.charge, at: 10, bytes: 3, .dividedBy(1), max: 9_999_999),
        AtorchField(.energy, at: 13, bytes: 4, .dividedBy(100), max: 99_999_999),
        AtorchField(.dataMinus, at: 17, bytes: 2, .dividedBy(100), max: 3000),
        AtorchField(.dataPlus, at: 19, bytes: 2, .dividedBy(100), max: 3000),
        AtorchField(.temperature, at: 21, bytes: 2, .dividedBy(1), max: 200),
    ]

    /// Over-voltage, under-voltage and over-current limits in a type 3 report, with their highest accepted values, in
    /// hundredths of a volt or ampere.
    static let usbLimits: [(offset: Int, max: Int)] = [(28, 10_000), (30, 10_000), (32, 5000)]

    /// Bytes between the last field and the check byte: 0 in every known report.
    private var unused: Range<Int> { self == .usb ? 34..<35 : 31..<35 }

    /// Returns the offset of the first unused byte, if any, that is neither 0 nor (in a type 3 report) a power factor
    /// of 1.
    func usedOffset(in report: UnsafeRawBufferPointer) -> Int? {
        unused.first { offset in
            let byte = report.u8(offset)
            return byte != 0 && !(self == .usb && byte == AtorchReport.powerFactorByte)
        }
    }
}

package struct AtorchField: Sendable {
    package let quantity: Quantity
    package let offset: Int
    /// Width in bytes: 2, 3 or 4.
    package let width: Int
    package let scale: Scale
    /// Highest accepted raw value: several times a meter's range, but low enough to detect noise.
    package let rawMax: UInt32

    /// Whether a report is useless without this field.
    var isVital: Bool { [.voltage, .current, .power].contains(quantity) }
    /// Whether the value may be negative: down to -0.5 V on a data line, or to -50 °C.
    private var maySink: Bool { [.temperature, .dataPlus, .dataMinus].contains(quantity) }

    package enum Scale: Sendable {
        case dividedBy(Double)
        case times(Double)
    }

    init(_ quantity: Quantity, at offset: Int, bytes width: Int, _ scale: Scale, max rawMax: UInt32) {
        self.quantity = quantity
        self.offset = offset
        self.width = width
        self.scale = scale
        self.rawMax = rawMax
    }

    package func raw(in report: UnsafeRawBufferPointer) -> UInt32 {
        switch width {
        case 2: UInt32(report.u16BE(offset))
        case 3: report.u24BE(offset)
        default: report.u32BE(offset)
        }
    }

    var range: ClosedRange<Double> { (quantity == .temperature ? -50 : 0)...value(of: rawMax) }

    func isPossible(in report: UnsafeRawBufferPointer) -> Bool { raw(in: report) <= rawMax }

    /// Returns whether the field would be slightly negative if signed. The encoding of negative values is unpublished.
    func isBelowZero(in report: UnsafeRawBufferPointer) -> Bool {
        maySink && report.u16BE(offset).isBelowZero(byUpTo: 50)
    }

    /// Returns the field's value in the quantity's unit; nil above `rawMax`.
    package func value(in report: UnsafeRawBufferPointer) -> Double? {
        isPossible(in: report) ? value(of: raw(in: report)) : nil
    }

    private func value(of raw: UInt32) -> Double {
        switch scale {
        case .dividedBy(let steps): Double(raw) / steps
        case .times(let step): Double(raw) * step
        }
    }
}
