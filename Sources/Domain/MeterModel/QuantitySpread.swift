/// Distribution of a quantity over a period.
package struct QuantitySpread: Codable, Hashable, Sendable {
    package var least: Double
    package var greatest: Double
    /// Mean over time, interpolated between readings.
    package var mean: Double
    /// Quantiles 0.05, 0.5 and 0.95 of the readings.
    package var p5: Double
    package var p50: Double
    package var p95: Double

    private enum CodingKeys: String, CodingKey { case least = "min", greatest = "max", mean, p5, p50, p95 }

    package init(least: Double, greatest: Double, mean: Double, p5: Double, p50: Double, p95: Double) {
        self.least = least
        self.greatest = greatest
        self.mean = mean
        self.p5 = p5
        self.p50 = p50
        self.p95 = p95
    }
}
