/// One quantity over time: its extremes, its integral, and how long that is.
package struct IntegratedValue: Hashable, Sendable {
    /// nil while no value came.
    package private(set) var least: Double?
    package private(set) var greatest: Double?
    /// Value times seconds.
    package private(set) var integral = 0.0
    /// How long is integrated.
    package private(set) var seconds = 0.0
    /// The last value, and how long ago it was at the latest reading; nil after a gap.
    private var last: (value: Double, age: Double)?

    package init() {}

    /// As stored.
    package init(least: Double?, greatest: Double?, mean: Double?, seconds: Double) {
        self.least = least
        self.greatest = greatest
        self.seconds = seconds.isFinite && seconds > 0 && mean != nil ? seconds : 0
        integral = (mean ?? 0) * self.seconds
    }

    /// Over the time that is integrated; of a single value that value.
    package var mean: Double? { seconds > 0 ? integral / seconds : least }

    /// - Parameters:
    ///   - value: nil means the reading did not tell it, as some kinds of frames do not.
    ///   - step: seconds since the reading before, nil where nobody knows.
    ///   - stepMax: over longer steps nothing is integrated.
    mutating func add(_ value: Double?, step: Double?, stepMax: Double) {
        if let step, let before = last { last?.age = before.age + max(step, 0) } else { last = nil }
        guard let value else { return }
        least = min(least ?? value, value)
        greatest = max(greatest ?? value, value)
        if let last, last.age <= stepMax {
            integral += (last.value + value) / 2 * last.age
            seconds += last.age
        }
        last = (value, 0)
    }

    mutating func breakOff() { last = nil }

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.least == rhs.least && lhs.greatest == rhs.greatest && lhs.integral == rhs.integral
            && lhs.seconds == rhs.seconds
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(least)
        hasher.combine(greatest)
        hasher.combine(integral)
        hasher.combine(seconds)
    }
}
