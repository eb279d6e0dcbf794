/// A required property of a period: `mean(current) < 15 mA`, `energy < 0.1 Wh`, `voltage > 4.75 V for 99.9 %`.
package struct Limit: Hashable, Sendable {
    package enum Measure: Hashable, Sendable {
        /// Mean, weighted by the duration of each value.
        case mean(Quantity)
        case least(Quantity)
        case greatest(Quantity)
        case range(Quantity)
        /// Percentile above 0 and below 100 (50 is the median), interpolated between values.
        case percentile(Quantity, Double)
        /// Standard deviation.
        case deviation(Quantity)
        /// In Wh, integrated from the power.
        case energy
        /// In mAh, integrated from the current.
        case charge
        /// In seconds.
        case duration
        case count
        /// Percentage of the measured time for which the comparison holds.
        case share(Quantity, Comparison, Double)
    }

    package enum Comparison: String, Hashable, Sendable {
        case below = "<"
        case atMost = "<="
        case above = ">"
        case atLeast = ">="

        func holds(_ value: Double, _ bound: Double) -> Bool {
            switch self {
            case .below: value < bound
            case .atMost: value <= bound
            case .above: value > bound
            case .atLeast: value >= bound
            }
        }

        var isUpper: Bool { self == .below || self == .atMost }
    }

    /// The limit as typed, with single blanks.
    package var text: String
    package var measure: Measure
    package var comparison: Comparison
    /// Limit value in the measure's unit.
    package var bound: Double
    /// The typed unit; nil if none was typed. `typedFactor` is its factor to the measure's unit.
    package var typedUnit: String?
    package var typedFactor: Double

    package init(
        text: String, measure: Measure, comparison: Comparison, bound: Double, typedUnit: String? = nil,
        typedFactor: Double = 1
    ) {
        self.text = text
        self.measure = measure
        self.comparison = comparison
        self.bound = bound
        self.typedUnit = typedUnit
        self.typedFactor = typedFactor
    }

    /// Quantity that readings must have; nil if any reading counts.
    package var quantity: Quantity? {
        switch measure {
        case .mean(let quantity), .least(let quantity), .greatest(let quantity), .range(let quantity),
            .percentile(let quantity, _), .deviation(let quantity), .share(let quantity, _, _):
            quantity
        case .energy: .power
        case .charge: .current
        case .duration, .count: nil
        }
    }

    /// `V`, `Wh`, `%`; empty for a plain number.
    package var unit: String {
        switch measure {
        case .mean(let quantity), .least(let quantity), .greatest(let quantity), .range(let quantity),
            .percentile(let quantity, _), .deviation(let quantity):
            quantity.unit
        case .energy: "Wh"
        case .charge: "mAh"
        case .duration: "s"
        case .count: ""
        case .share: "%"
        }
    }
}
