/// Collects the values of a formula's operands. Makes a reading when each operand with data has a new value: at the rate
/// of the slowest.
package struct FormulaMachine: Sendable {
    private struct Part: Sendable {
        var value: Double?
        /// Whether the value came after the last reading of the formula.
        var isNew = false
        /// Time of the value; nil without data.
        var time: MonotonicTime?
        /// Time between the last two values; nil before the second.
        var interval: Duration?
        /// Time until which the value is used.
        var until = MonotonicTime.origin

        /// Returns whether `now` is closer to the expected time of the next value than to that of the last one.
        func isOld(at now: MonotonicTime) -> Bool {
            guard let time, let interval else { return false }
            return (now - time) * 2 > interval
        }
    }

    package let formula: Formula
    private var parts: [Part]

    package init(_ formula: Formula) {
        self.formula = formula
        parts = Array(repeating: Part(), count: formula.operands.count)
    }

    /// Records a value.
    ///
    /// - Parameters:
    ///   - value: nil if the meter does not know it.
    ///   - operand: index in `Formula.operands`.
    ///   - lasting: time for which the value is used.
    package mutating func heard(_ value: Double?, of operand: Int, at now: MonotonicTime, lasting: Duration) {
        guard parts.indices.contains(operand) else { return }
        let interval = parts[operand].time.map { now - $0 }
        parts[operand] = Part(value: value, isNew: true, time: now, interval: interval, until: now + lasting)
    }

    /// Removes the operand's value, because its meter has no data any more or another meter has its name.
    package mutating func lost(_ operand: Int) {
        if parts.indices.contains(operand) { parts[operand] = Part() }
    }

    package func hasData(of operand: Int, at now: MonotonicTime) -> Bool {
        parts.indices.contains(operand) && parts[operand].time != nil && now <= parts[operand].until
    }

    /// Returns whether any operand has data.
    package func hasData(at now: MonotonicTime) -> Bool { parts.indices.contains { hasData(of: $0, at: now) } }

    /// Returns the next reading, whose value is nil while an operand has no data; nil while no reading is due.
    package mutating func reading(at now: MonotonicTime) -> Reading? {
        for index in parts.indices where !hasData(of: index, at: now) { parts[index] = Part() }
        let present = parts.filter { $0.time != nil }
        guard !present.isEmpty, present.allSatisfy(\.isNew), !isWorthWaiting(at: now) else { return nil }
        for index in parts.indices { parts[index].isNew = false }
        var reading = unknown
        reading[formula.quantity] = formula.result { parts[$0].value }
        return reading
    }

    /// Returns whether to wait for the next value of the only old operand. If no other operand is old by then, the
    /// values are closer together in time.
    private func isWorthWaiting(at now: MonotonicTime) -> Bool {
        let old = parts.filter { $0.isOld(at: now) }
        guard old.count == 1, let time = old[0].time, let interval = old[0].interval else { return false }
        let next = max(now, time + interval)
        return parts.count { $0.isOld(at: next) } == 1
    }

    /// Reading without a value.
    package var unknown: Reading {
        var reading = Reading()
        reading[formula.quantity] = nil
        return reading
    }
}
