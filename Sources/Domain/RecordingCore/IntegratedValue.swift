package struct IntegratedValue: Hashable, Sendable {
    /// Nil before the first value.
    package private(set) var least: Double?
    package private(set) var greatest: Double?
    /// Value times seconds.
    package private(set) var integral = 0.0
    package private(set) var seconds = 0.0
    /// Last value and its age in seconds; nil after a gap.
    private var last: (value: Double, age: Double)?

    package init() {}

    package init(least: Double?, greatest: Double?, mean: Double?, seconds: Double) {
        self.least = least
        self.greatest = greatest
        self.seconds = seconds.isFinite && seconds > 0 && mean != nil ? seconds : 0
        integral = (mean ?? 0) * self.seconds
    }

    /// Mean over time; the first value if nothing was integrated.
    package var mean: Double? { seconds > 0 ? integral / seconds : least }

    /// - Parameters:
    ///   - value: nil if the reading lacks it, as in some kinds of frame.
    ///   - step: seconds since the previous reading; nil if unknown.
    ///   - stepMax: longest step to integrate, in seconds.
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
