/// Allowed difference between two values that should be equal.
struct Slack {
    /// Absolute part, in the values' unit.
    var steps: Double
    /// Fraction of the greater value, added to `steps`.
    var part: Double

    func covers(_ one: Double, _ other: Double) -> Bool {
        abs(one - other) <= steps + part * max(abs(one), abs(other))
    }
}
