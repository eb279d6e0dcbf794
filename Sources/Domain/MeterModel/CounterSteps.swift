/// Resolution of a meter's own counters. They round down, so an increase may appear one step too small.
package struct CounterSteps: Hashable, Sendable {
    package var energy_Wh: Double
    package var charge_mAh: Double

    package init(energy_Wh: Double, charge_mAh: Double) {
        self.energy_Wh = energy_Wh
        self.charge_mAh = charge_mAh
    }

    /// Resolution of most meters; some are finer.
    package static let fine = Self(energy_Wh: 0.01, charge_mAh: 1)
    /// Resolution of Atorch reports of type 1 or 2 (Docs/Protocols/Atorch.md#reports).
    package static let tens = Self(energy_Wh: 10, charge_mAh: 10)
    /// Resolution assumed for a board described by a user, because its rounding is unknown.
    package static let whole = Self(energy_Wh: 1, charge_mAh: 1)
}
