/// The values of one measurement, in SI base units but for charge (mAh) and energy (Wh); see `Quantity.key`.
///
/// Three things are told apart (Docs/CommandLine.md#output): a quantity the model does not have (absent), one that it
/// has but does not know just now (nil, `null` in JSON), and a value. A value of 0 always means that the meter said 0.
/// The struct holds no reference, so that making and passing one never allocates.
package struct Reading: Sendable {
    /// As many places as a `QuantitySet` has bits.
    private var values = InlineArray<24, Double>(repeating: 0)
    /// The quantities this model reports at all.
    package private(set) var supported: QuantitySet = []
    /// Those with a value. Always a subset of `supported`.
    package private(set) var known: QuantitySet = []

    package init() {}

    /// The value, or nil where it is unknown or the model has no such quantity (see `supported`).
    /// Assigning, nil included, makes the quantity a supported one.
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

    /// Calls `body` for each supported quantity, in the order of `Quantity`.
    package func forEach(_ body: (Quantity, Double?) -> Void) {
        for quantity in Quantity.allCases where supported.contains(quantity) {
            body(quantity, self[quantity])
        }
    }
}

extension Reading {
    /// With this program's totals in place of the meter's own counters, which fall and leap where another group is chosen.
    /// A total is nil where nothing was counted, as in readings of earlier versions.
    package var withTotals: Reading {
        var reading = self
        if supported.contains(.energy) { reading[.energy] = self[.countedEnergy] }
        if supported.contains(.charge) { reading[.charge] = self[.countedCharge] }
        return reading
    }

    /// The same for programs that add up: each total once, as `energy` and `charge` of a meter that has such counters, as
    /// `countedEnergy` and `countedCharge` of any other.
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
