package import Domain

/// A line that fits its description. Contains no references, so that decoding allocates nothing.
package struct LineFrame: Sendable {
    private var quantities = InlineArray<12, UInt8>(repeating: 0)
    private var values = InlineArray<12, Double>(repeating: 0)
    private var known: UInt16 = 0
    private var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// Adds a quantity that the frame does not contain yet, up to `LineDescription.fieldsMax`. Nil means that the board
    /// reported the value as unknown.
    package mutating func add(_ quantity: Quantity, _ value: Double?) {
        guard count < LineDescription.fieldsMax else { return }
        quantities[count] = quantity.rawValue
        if let value {
            values[count] = value
            known |= 1 << UInt16(count)
        }
        count += 1
    }

    /// Power is computed from voltage and current if the line has none.
    package var reading: Reading {
        var reading = Reading()
        for index in 0..<count {
            guard let quantity = Quantity(rawValue: quantities[index]) else { continue }
            reading[quantity] = known & 1 << UInt16(index) == 0 ? nil : values[index]
        }
        guard reading.supported.contains(.voltage), reading.supported.contains(.current),
            !reading.supported.contains(.power)
        else { return reading }
        let product = reading[.voltage].flatMap { voltage in reading[.current].map { voltage * $0 } }
        // Round away floating-point errors: 5.02 V times 0.31 A is exactly 1.5562 W. `valueMax` also limits a board's
        // own values.
        reading[.power] = product.flatMap { $0.magnitude > LineField.valueMax ? nil : ($0 * 1e9).rounded() / 1e9 }
        return reading
    }
}

extension LineFrame: FrameContent {
    /// Nil, because a line does not name its model.
    package var model: ModelName? { nil }

    package func forEachReading(_ body: (Reading) -> Void) { body(reading) }
}
