/// What one of a meter's data groups has counted.
package struct GroupTotals: Hashable, Sendable {
    /// The number of the group as the meter numbers it, from 0.
    package var index: Int
    package var charge_mAh: Double
    package var energy_mWh: Double

    package init(index: Int, charge_mAh: Double, energy_mWh: Double) {
        self.index = index
        self.charge_mAh = charge_mAh
        self.energy_mWh = energy_mWh
    }
}
