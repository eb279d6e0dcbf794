package struct GroupTotals: Hashable, Sendable {
    /// Number of the data group on the meter, from 0.
    package var index: Int
    package var charge_mAh: Double
    package var energy_mWh: Double

    package init(index: Int, charge_mAh: Double, energy_mWh: Double) {
        self.index = index
        self.charge_mAh = charge_mAh
        self.energy_mWh = energy_mWh
    }
}
