/// Combines measurements into one reading: means, minima and maxima, with the times of the last measurement.
struct ReadingFold {
    private var last: TimedReading
    private var sum = Reading()
    private var known: [Quantity: Int] = [:]
    private var least = Reading()
    private var greatest = Reading()
    private(set) var count = 0

    init(_ first: TimedReading) {
        last = first
        add(first)
    }

    /// - Parameter next: one measurement, or the mean of several.
    mutating func add(_ next: TimedReading) {
        let weight = next.spread?.count ?? 1
        count += weight
        last = next
        next.reading.forEach { quantity, value in
            guard let value else {
                // If no measurement has a value of the quantity, send it as unknown.
                if !sum.supported.contains(quantity) {
                    (sum[quantity], least[quantity], greatest[quantity]) = (nil, nil, nil)
                }
                return
            }
            known[quantity, default: 0] += weight
            sum[quantity] = (sum[quantity] ?? 0) + value * Double(weight)
            let (low, high) = (next.spread?.least[quantity] ?? value, next.spread?.greatest[quantity] ?? value)
            least[quantity] = min(least[quantity] ?? low, low)
            greatest[quantity] = max(greatest[quantity] ?? high, high)
        }
    }

    func folded(at now: MonotonicTime) -> RelayReading {
        var mean = sum
        for (quantity, count) in known { mean[quantity] = sum[quantity].map { $0 / Double(count) } }
        return RelayReading(
            age: max(.zero, now - last.time), wallTime: last.wallTime, reading: mean,
            spread: ReadingSpread(count: count, least: least, greatest: greatest))
    }
}
