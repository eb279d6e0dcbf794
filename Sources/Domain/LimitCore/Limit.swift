/// What a stretch of readings must come to, as people type it: `mean(current) < 15 mA`, `energy < 0.1 Wh`,
/// `voltage > 4.75 V for 99.9 %`.
package struct Limit: Hashable, Sendable {
    /// What is computed of the stretch.
    package enum Measure: Hashable, Sendable {
        /// Over time: a value counts for as long as it held.
        case mean(Quantity)
        case least(Quantity)
        case greatest(Quantity)
        /// From the least to the greatest.
        case range(Quantity)
        /// Above 0 and below 100; 50 is the median. Between two readings, what lies between them.
        case percentile(Quantity, Double)
        /// The standard deviation of the readings.
        case deviation(Quantity)
        /// In Wh, integrated from the power.
        case energy
        /// In mAh, integrated from the current.
        case charge
        /// In seconds.
        case duration
        /// Of readings.
        case count
        /// The share of the measured time, in per cent, that the quantity is on this side of the value.
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

        /// Whether it asks for small values, which more readings can only break.
        var isUpper: Bool { self == .below || self == .atMost }
    }

    /// As it was typed, with single blanks.
    package var text: String
    package var measure: Measure
    package var comparison: Comparison
    /// In the unit of the measure.
    package var bound: Double
    /// The unit that was typed, and what it is worth in the measure's; the measure's own where none was.
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

    /// The quantity that the readings must have.
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

    /// What values are in: `V`, `Wh`, `%`; empty for a plain number.
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
