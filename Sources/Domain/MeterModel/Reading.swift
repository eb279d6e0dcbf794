/// Values of one measurement, in SI base units except for charge (mAh) and energy (Wh); see `Quantity.key`.
///
/// A quantity is absent if the model lacks it, nil (`null` in JSON) while unknown, or a value
/// (Docs/CommandLine.md#output). 0 always means that the meter reported 0. Contains no reference, so that passing it
/// never allocates.
package struct Reading: Sendable {
    /// Indexed by the raw value of `Quantity`; 0 if unknown.
    private var values = InlineArray<24, Double>(repeating: 0)
    /// Quantities that the model reports.
    package private(set) var supported: QuantitySet = []
    /// Quantities with a value; a subset of `supported`.
    package private(set) var known: QuantitySet = []

    package init() {}

    /// Nil if unknown or not `supported`. Assigning a value, even nil, makes the quantity supported.
    package subscript(quantity: Quantity) -> Double? {
        get {
            known.contains(quantity) ? values[Int(quantity.rawValue)] : nil
        }
        set {
            let bit = QuantitySet(quantity)
            supported.formUnion(bit)
            if let newValue, newValue.isFinite {
                known.formUnion(bit)
                values[Int(quantity.rawValue)] = newValue
            } else {
                known.subtract(bit)
                values[Int(quantity.rawValue)] = 0
            }
        }
    }

    package func forEach(_ body: (Quantity, Double?) -> Void) {
        for quantity in Quantity.allCases where supported.contains(quantity) {
            body(quantity, self[quantity])
        }
    }
}

extension Reading {
    /// The reading with meterd's totals instead of the meter's own counters, which jump when another data group is
    /// selected. Nil where nothing was counted.
    package var withTotals: Reading {
        var reading = self
        if supported.contains(.energy) { reading[.energy] = self[.countedEnergy] }
        if supported.contains(.charge) { reading[.charge] = self[.countedCharge] }
        return reading
    }

    /// Reading for programs that sum values, with each total once: as `energy` and `charge` for meters with counters,
    /// otherwise as `countedEnergy` and `countedCharge`.
    package var published: Reading {
        var reading = withTotals
        guard supported.contains(.energy) || supported.contains(.charge) else { return reading }
        for quantity in [Quantity.countedEnergy, .countedCharge] {
            reading[quantity] = nil
            reading.supported.subtract(QuantitySet(quantity))
        }
        return reading
    }
}

extension Reading: Hashable {
    package func hash(into hasher: inout Hasher) {
        hasher.combine(known)
        for index in values.indices { hasher.combine(values[index]) }
    }

    package static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.supported == rhs.supported, lhs.known == rhs.known else { return false }
        for index in lhs.values.indices where lhs.values[index] != rhs.values[index] { return false }
        return true
    }
}

extension Reading: CustomStringConvertible {
    package var description: String {
        var parts: [String] = []
        forEach { quantity, value in
            parts.append("\(quantity.key)=\(value.map { "\($0)" } ?? "null")")
        }
        return parts.joined(separator: " ")
    }
}
