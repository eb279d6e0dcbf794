package import Domain

/// A PPK2's description of itself: lines `KEY: VALUE` and `END` (Docs/Protocols/PPK2.md#metadata).
package struct PPK2Metadata: FrameContent {
    /// First bytes of the text, in every published example.
    package static let beginning = Array("Calibrated: ".utf8)
    package static let end = Array("END\n".utf8)
    /// Greatest accepted length in bytes; the published example has 577.
    package static let lengthMax = 2048

    /// Voltage of the PPK2's own regulator in millivolts, from which the offsets of its ranges are computed.
    package let supply_mV: Double
    package private(set) var ranges: InlineArray<5, PPK2Range>
    /// Number of calibration values that the text lacks, so that the maker's nominal ones are used.
    package let missingCount: Int
    private let isCalibrated: Bool?
    private let mode: Int?
    private let hardware: String?

    /// - Parameter text: the whole text.
    /// - Returns: nil without a legal supply voltage, because the offsets would be unknown.
    package init?(_ text: UnsafeRawBufferPointer) {
        var values: [Substring: Substring] = [:]
        let lines = String(decoding: text, as: UTF8.self)
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1].drop { $0 == " " } }
        }
        guard let supply = values["VDD"].flatMap({ Double($0) }), (800...5000).contains(supply) else { return nil }
        supply_mV = supply
        var missing = 0
        func value(_ key: String, _ range: Int, _ nominal: Double, in legal: ClosedRange<Double>) -> Double {
            guard let value = values["\(key)\(range)"[...]].flatMap({ Double($0) }), legal.contains(value) else {
                missing += 1
                return nominal
            }
            return value
        }
        // Limits far beyond the published values. Only the user's gain has the maker's limits: outside them, its
        // program resets the gain to 1 (pc-nrfconnect-ppk src/actions/deviceActions.ts).
        let (offsets, gains) = (-65_536.0...65_536, -10_000.0...10_000)
        var ranges = InlineArray<5, PPK2Range>(repeating: PPK2Range())
        for index in 0..<5 {
            ranges[index] = PPK2Range(
                resistance: value("R", index, PPK2Range.nominalResistances[index], in: 0.001...100_000),
                offset: value("O", index, 0, in: offsets), squareGain: value("GS", index, 1, in: gains),
                gain: value("GI", index, 1, in: gains), slope: value("S", index, 0, in: -1...1),
                constant: value("I", index, 0, in: -1...1), userGain: value("UG", index, 1, in: 0.9...1.1),
                supply: supply / 1000)
        }
        self.ranges = ranges
        missingCount = missing
        isCalibrated = values["Calibrated"].map { $0 != "0" }
        mode = values["mode"].flatMap { Int($0) }
        hardware = values["HW"].map { String($0) }
    }

    /// Computes the offsets for another voltage of the regulator; nil for the same.
    package mutating func regulate(to millivolts: Int?) {
        guard let millivolts else { return }
        for index in 0..<5 { ranges[index].regulate(to: Double(millivolts) / 1000) }
    }

    package var model: ModelName? { .ppk2 }
    package func forEachReading(_ body: (Reading) -> Void) {}
    package var device: DeviceInfo? { DeviceInfo(model: .ppk2, hardware: hardware) }

    package var details: [FrameDetail] {
        [
            FrameDetail("calibrated", isCalibrated.map { .flag($0) } ?? .unknown),
            FrameDetail("missing_calibration_values", .integer(missingCount)),
            FrameDetail("regulator_mV", .number(supply_mV)),
            FrameDetail("mode_before", mode.map { .integer($0) } ?? .unknown),
        ]
    }
}

/// Calibration of one of the five measuring ranges (`getAdcResult` in pc-nrfconnect-ppk src/device/serialDevice.ts;
/// ppk2-api-python and ppk2-rs compute the same).
package struct PPK2Range: Hashable, Sendable {
    private var offset = 0.0
    /// Amperes per step of the converter, before the gains.
    private var step = 0.0
    private var squareGain = 0.0
    private var gain = 0.0
    private var slope = 0.0
    private var zeroConstant = 0.0
    private var userGain = 0.0
    /// Offset in amperes at the regulator's voltage, kept because each sample needs it.
    private var constant = 0.0

    /// Nominal shunt resistances in ohms, for a PPK2 that does not report its own (the same in all three sources).
    static let nominalResistances = [1031.64, 101.65, 10.15, 0.94, 0.043]
    /// Volts per step of the converter.
    private static let converterStep = 1.8 / 163_840

    /// A range that measures nothing.
    package init() {}

    /// - Parameters:
    ///   - slope: change of the offset in amperes per volt of `supply`.
    ///   - constant: offset in amperes without a supply.
    ///   - supply: voltage of the PPK2's regulator.
    package init(
        resistance: Double, offset: Double, squareGain: Double, gain: Double, slope: Double, constant: Double,
        userGain: Double, supply: Double
    ) {
        self.offset = offset
        step = Self.converterStep / resistance
        self.squareGain = squareGain
        self.gain = gain
        (self.slope, zeroConstant) = (slope, constant)
        self.constant = slope * supply + constant
        self.userGain = userGain
    }

    mutating func regulate(to volts: Double) { constant = slope * volts + zeroConstant }

    /// Returns the current in amperes. One unit of the 14-bit `converter` value is four steps.
    @inline(__always)
    func current(_ converter: UInt32) -> Double {
        let raw = (Double(converter &* 4) - offset) * step
        return userGain * (raw * (squareGain * raw + gain) + constant)
    }

    /// Returns the converter's number for a current in amperes; nil if it does not fit into 14 bits.
    package func converter(for current: Double) -> UInt32? {
        let rest = constant - current / userGain
        let raw: Double
        if squareGain == 0 {
            raw = -rest / gain
        } else {
            let root = gain * gain - 4 * squareGain * rest
            guard root >= 0 else { return nil }
            raw = (root.squareRoot() - gain) / (2 * squareGain)
        }
        let number = ((raw / step + offset) / 4).rounded()
        return (0...16_383).contains(number) ? UInt32(number) : nil
    }
}
