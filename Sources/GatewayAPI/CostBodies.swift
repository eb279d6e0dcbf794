package import Domain

package struct CostBody: Codable, Hashable, Sendable {
    /// Amount in the currency, to a millionth; negative for energy that flowed back.
    package var amount: Double
    package var currency: String
    package var per_kWh: Double

    /// Nil without an energy or a tariff.
    package init?(of energy_Wh: Double?, at tariff: Tariff?) {
        guard let energy_Wh, let tariff, energy_Wh.isFinite else { return nil }
        let cost = tariff.cost(of: energy_Wh)
        amount = cost.magnitude < 1e9 ? (cost * 1e6).rounded() / 1e6 : cost
        (currency, per_kWh) = (tariff.currency, tariff.perKWh)
    }
}
