package import Domain

/// A line that fits its description: some quantities, each known or not.
///
/// As small as its values, and without a reference, so that a line costs no memory.
package struct LineFrame: Sendable {
    private var quantities = InlineArray<12, UInt8>(repeating: 0)
    private var values = InlineArray<12, Double>(repeating: 0)
    private var known: UInt16 = 0
    private var count = 0

    package init() {}

    /// Whether nothing was added.
    package var isEmpty: Bool { count == 0 }

    /// Adds a quantity that is not there yet. Beyond `LineDescription.fieldsMax` nothing is added.
    ///
    /// - Parameter value: nil where the board says that it does not know it.
    package mutating func add(_ quantity: Quantity, _ value: Double?) {
        guard count < LineDescription.fieldsMax else { return }
        quantities[count] = quantity.rawValue
        if let value {
            values[count] = value
            known |= 1 << UInt16(count)
        }
        count += 1
    }

    /// Power is voltage times current where the line has both and no power.
    package var reading: Reading {
        var reading = Reading()
        for index in 0..<count {
            guard let quantity = Quantity(rawValue: quantities[index]) else { continue }
            reading[quantity] = known & 1 << UInt16(index) == 0 ? nil : values[index]
        }
        guard reading.supported.contains(.voltage), reading.supported.contains(.current),
            !reading.supported.contains(.power)
        else { return reading }
        if let voltage = reading[.voltage], let current = reading[.current] {
            // Rounded, so that 5.02 V times 0.31 A is 1.5562 W and not a hair less.
            reading[.power] = (voltage * current * 1e9).rounded() / 1e9
        } else {
            reading[.power] = nil
        }
        return reading
    }
}

extension LineFrame: FrameContent {
    /// A line does not say whose it is.
    package var model: ModelName? { nil }

    package func forEachReading(_ body: (Reading) -> Void) { body(reading) }
}
