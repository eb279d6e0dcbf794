/// Formula of a computed meter: a sum, difference or ratio of meters' quantities, or gain and offset of one
/// (Docs/Meters/COMPUTED.md). `FormulaParser` makes it.
package struct Formula: Hashable, Sendable {
    /// A quantity of a meter.
    package struct Operand: Hashable, Sendable {
        /// Name or id of the meter, as typed.
        package var meter: String
        package var quantity: Quantity
    }

    /// A number, optionally multiplied by one operand and divided by another.
    struct Term: Hashable, Sendable {
        var factor: Double
        /// Index of the operand to multiply by; nil for a plain number.
        var over: Int?
        /// Index of the operand to divide by; nil if there is none.
        var under: Int?
    }

    /// Quantities that a formula may name. Their values can be added; a price or a running time cannot.
    package static let quantities: [Quantity] = [
        .voltage, .current, .power, .energy, .charge, .temperature, .dataPlus, .dataMinus, .resistance, .frequency,
        .supplyVoltage,
    ]
    /// Greatest magnitude of a result and of a number in a formula.
    package static let valueMax = 1e9

    /// Operands, each once, in the order of the text.
    package let operands: [Operand]
    let terms: [Term]
    /// Quantity of the result: that of the terms, or `ratio`.
    package let quantity: Quantity

    /// Returns the result, rounded to 1e-9; nil if an operand is unknown, a divisor is 0, or the result is not finite
    /// or beyond `valueMax`.
    ///
    /// - Parameter value: returns the value of the operand with this index; nil while it is unknown.
    package func result(_ value: (Int) -> Double?) -> Double? {
        var sum = 0.0
        for term in terms {
            var product = term.factor
            if let over = term.over {
                guard let value = value(over) else { return nil }
                product *= value
            }
            if let under = term.under {
                guard let value = value(under), value != 0 else { return nil }
                product /= value
            }
            sum += product
        }
        guard sum.magnitude <= Self.valueMax else { return nil }
        // Adding 0 turns -0 into 0.
        return (sum * 1e9).rounded() / 1e9 + 0
    }
}
