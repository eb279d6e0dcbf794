/// Last values of quantities that arrive separately. Makes a reading of those that are recent.
package struct LatestValues: Sendable {
    private var values: [Quantity: (value: Double?, at: MonotonicTime)] = [:]
    /// Older values are unknown.
    private let maxAge: Duration

    package init(maxAge: Duration) { self.maxAge = maxAge }

    /// - Parameter value: nil if the source does not know it.
    package mutating func set(_ quantity: Quantity, to value: Double?, at now: MonotonicTime) {
        values[quantity] = (value, now)
    }

    package mutating func forget(_ quantity: Quantity) { values[quantity] = nil }

    /// Returns a reading of these quantities, in their order, as a line of JSON (`line`).
    package func line(of quantities: [Quantity], at now: MonotonicTime) -> [UInt8] {
        Self.line(
            quantities.map { quantity in
                (quantity, values[quantity].flatMap { now - $0.at <= maxAge ? $0.value : nil })
            })
    }

    /// Returns a flat JSON object with quantities by name, `null` for an unknown value, and a line end.
    package static func line(_ members: [(quantity: Quantity, value: Double?)]) -> [UInt8] {
        let texts = members.map { "\"\($0.quantity.word)\":\($0.value.map { "\($0)" } ?? "null")" }
        return Array("{\(texts.joined(separator: ","))}\n".utf8)
    }
}
