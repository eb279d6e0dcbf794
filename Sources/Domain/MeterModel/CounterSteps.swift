/// The smallest steps in which a meter tells its own counters, rounded down. What a counter rose by may be less by one.
package struct CounterSteps: Hashable, Sendable {
    package var energy_Wh: Double
    package var charge_mAh: Double

    package init(energy_Wh: Double, charge_mAh: Double) {
        self.energy_Wh = energy_Wh
        self.charge_mAh = charge_mAh
    }

    /// What most meters tell, or finer.
    package static let fine = Self(energy_Wh: 0.01, charge_mAh: 1)
    /// An Atorch report of type 1 or 2 (Docs/Protocols/Atorch.md#reports).
    package static let tens = Self(energy_Wh: 10, charge_mAh: 10)
    /// A board that a person described: nobody knows how it rounds.
    package static let whole = Self(energy_Wh: 1, charge_mAh: 1)
}
