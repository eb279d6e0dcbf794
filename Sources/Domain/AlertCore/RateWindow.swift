/// Recent values, thinned out, to compute the rate of change. Stored inline, so adding a value never allocates memory.
struct RateWindow: Sendable {
    private static let places = 17

    private let window: Duration
    private var times = InlineArray<17, MonotonicTime>(repeating: .origin)
    private var values = InlineArray<17, Double>(repeating: 0)
    private var first = 0
    private var count = 0
    private var last = MonotonicTime.origin

    init(_ window: Duration) { self.window = window }

    mutating func removeAll() { (first, count) = (0, 0) }

    /// - Returns: change per second since the oldest value; nil until the values span half a window.
    mutating func add(_ value: Double, at time: MonotonicTime, gapMax: Duration) -> Double? {
        if time - last > gapMax || time < last { removeAll() }
        last = time
        while count > 0, time - times[first] > window { dropFirst() }
        defer { keep(value, at: time) }
        guard count > 0 else { return nil }
        let length = time - times[first]
        guard length >= window / 2 else { return nil }
        return (value - values[first]) * 1000 / Double(length.milliseconds)
    }

    /// Stores the value, unless the last stored one is newer than a sixteenth of the window. `add` drops values older
    /// than the window, so there is always room.
    private mutating func keep(_ value: Double, at time: MonotonicTime) {
        if count > 0, time - times[(first + count - 1) % Self.places] < window / (Self.places - 1) { return }
        let place = (first + count) % Self.places
        (times[place], values[place]) = (time, value)
        count += 1
    }

    private mutating func dropFirst() {
        first = (first + 1) % Self.places
        count -= 1
    }
}
