package struct GroupTotals: Hashable, Sendable {
    /// Group number from 0, as on the meter.
    package var index: Int
    package var charge_mAh: Double
    package var energy_mWh: Double

    package init(index: Int, charge_mAh: Double, energy_mWh: Double) {
        self.index = index
        self.charge_mAh = charge_mAh
        self.energy_mWh = energy_mWh
    }
}
