import Domain

/// Checks whether the values of a UM block agree with one another, which detects more wrong bytes than the two-byte
/// trailer.
///
/// In every unedited public block, power is voltage times current, rounded down to a milliwatt. Resistance is their
/// quotient, rounded down to 0.1 Ω (UM34C in sebastianha/um34c app.js; UM24C format in dernasherbrezon.com, "USB-tester
/// A3-B"). No unedited block of a UM25C is public; it may compute with finer numbers. So voltage and current count as
/// intervals of one step to either side: a UM24C that shows 0.001 A at 5 V may measure up to 10 mW.
enum UMAgreement {
    /// Returns the first disagreement in the 130 bytes of a block that `UMPlausibility` accepts.
    static func error(_ block: UnsafeRawBufferPointer, model: ModelName) -> CodecError? {
        let scales = UMScales.of(model)
        let voltage = Measured(steps: block.u16BE(2), perUnit: scales.voltage)
        let current = Measured(steps: block.u16BE(4), perUnit: scales.current)
        let margin = scales.productMargin
        if !powerAgrees(Double(block.u32BE(6)) / 1000, voltage, current, margin: margin) {
            return .implausibleField(offset: 6)
        }
        if !resistanceAgrees(block.u32BE(122), voltage, current, margin: margin) {
            return .implausibleField(offset: 122)
        }
        if !UMChargingMode(word: Int(block.u16BE(100))).isSent { return .implausibleField(offset: 100) }
        // Ten data groups and the recorder: each a charge, then its energy.
        for group in 0..<10 where !countersAgree(block, at: 16 + 8 * group) {
            return .implausibleField(offset: 16 + 8 * group)
        }
        return countersAgree(block, at: 102) ? nil : .implausibleField(offset: 102)
    }

    private struct Measured {
        let least: Double
        let most: Double

        init(steps: UInt16, perUnit: Double) {
            let step = 1 / perUnit
            least = Double(max(1, steps) - 1) * step
            most = (Double(steps) + 1) * step
        }
    }

    /// - Parameters:
    ///   - power: in watts, in steps of a thousandth.
    ///   - margin: additional relative error of the model.
    private static func powerAgrees(_ power: Double, _ voltage: Measured, _ current: Measured, margin: Double) -> Bool {
        let rounding = 0.002
        return power >= voltage.least * current.least * (1 - margin) - rounding
            && power <= voltage.most * current.most * (1 + margin) + rounding
    }

    /// - Parameter tenths: resistance in tenths of an ohm. `openCircuit` always agrees, because its threshold is
    ///   unknown.
    private static func resistanceAgrees(
        _ tenths: UInt32, _ voltage: Measured, _ current: Measured, margin: Double
    ) -> Bool {
        guard tenths != openCircuit else { return true }
        let (ohms, rounding) = (Double(tenths) / 10, 0.11)
        let least = voltage.least / current.most * (1 - margin) - rounding
        guard ohms >= least else { return false }
        return current.least == 0 || ohms <= voltage.most / current.least * (1 + margin) + rounding
    }

    /// Resistance shown for an open circuit, in tenths of an ohm: 9999.9 Ω.
    static let openCircuit: UInt32 = 99_999

    /// Returns whether an energy can be the charge times a voltage of at least 0.5 V, both truncated. A meter with its
    /// own supply can measure such low voltages. A charge stops at 99999 mAh while its energy keeps counting (one
    /// published block shows 797730 mWh with it).
    private static func countersAgree(_ block: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        let charge = Int(block.u32BE(offset))
        let energy = Int(block.u32BE(offset + 4))
        guard charge <= chargeMax, 2 * (energy + 1) >= charge else { return false }
        return energy <= (charge == chargeMax ? 999_999_999 : (charge + 1) * UMPlausibility.voltageMax)
    }

    /// Maximum charge in milliampere-hours.
    static let chargeMax = 99_999
}

/// Decides from a meter's past blocks whether its values must agree (`UMAgreement`), because unknown firmware may
/// define power differently.
///
/// Five blocks in a row with the same disagreement (10 s at 2 s per missing answer) switch the check off. Three
/// agreeing blocks switch it on again.
struct UMAgreementScore: Sendable {
    private static let disagreeingMax = 5
    private static let agreeingNeeded = 3
    private(set) var isAskedFor = true
    private var count = 0
    private var lastError: CodecError?

    /// - Parameter error: disagreement in an otherwise correct block; nil if the values agree.
    mutating func note(_ error: CodecError?) {
        if isAskedFor {
            count = error == nil ? 0 : error == lastError ? count + 1 : 1
        } else {
            count = error == nil ? count + 1 : 0
        }
        lastError = error
        guard count >= (isAskedFor ? Self.disagreeingMax : Self.agreeingNeeded) else { return }
        isAskedFor.toggle()
        count = 0
    }

    mutating func noteRubbish() {
        if isAskedFor { count = 0 }
    }
}
