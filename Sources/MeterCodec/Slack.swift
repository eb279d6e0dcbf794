/// How far apart two values may be that should be one.
struct Slack {
    /// In the values' unit.
    var steps: Double
    /// Of the greater one.
    var part: Double

    func covers(_ one: Double, _ other: Double) -> Bool {
        abs(one - other) <= steps + part * max(abs(one), abs(other))
    }
}
