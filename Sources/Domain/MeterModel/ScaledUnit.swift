/// A unit that a device uses, as a factor of the quantity's own unit.
package struct ScaledUnit: Hashable, Sendable {
    private let factor: Double

    private static let prefixes = ["": 1.0, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6]
    /// Maximum value of a measurement, in the quantity's own unit.
    private static let valueMax = 1e9

    package init(factor: Double = 1) { self.factor = factor }

    /// Reads a unit such as `mA`.
    ///
    /// - Returns: nil for another quantity's unit or an unknown prefix.
    package init?(_ text: String, of quantity: Quantity) {
        guard text.hasSuffix(quantity.unit), let factor = Self.prefixes[String(text.dropLast(quantity.unit.count))]
        else { return nil }
        self.init(factor: factor)
    }

    /// Returns the value in the quantity's own unit, rounded to 9 decimals; nil if it is too large or not a number.
    package func value(of number: Double) -> Double? {
        guard number.magnitude * factor.magnitude <= Self.valueMax else { return nil }
        return (number * factor * 1e9).rounded() / 1e9
    }
}
