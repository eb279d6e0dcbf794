import MeterModel

/// Folds measurements into one: their mean, least and greatest values, the times of the last.
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

    mutating func add(_ next: TimedReading) {
        count += 1
        last = next
        next.reading.forEach { quantity, value in
            guard let value else {
                // A quantity that was never known is sent as unknown.
                if !sum.supported.contains(quantity) {
                    (sum[quantity], least[quantity], greatest[quantity]) = (nil, nil, nil)
                }
                return
            }
            known[quantity, default: 0] += 1
            sum[quantity] = (sum[quantity] ?? 0) + value
            least[quantity] = min(least[quantity] ?? value, value)
            greatest[quantity] = max(greatest[quantity] ?? value, value)
        }
    }

    func folded(at now: MonotonicTime) -> RelayReading {
        var mean = sum
        for (quantity, count) in known { mean[quantity] = sum[quantity].map { $0 / Double(count) } }
        return RelayReading(
            age: max(.zero, now - last.time), wallTime: last.wallTime, reading: mean,
            spread: RelayReading.Spread(count: count, least: least, greatest: greatest))
    }
}
