/// Statistics of each quantity over one second, minute or hour. Merging buckets equals adding all their readings,
/// except for the last digits of the mean.
package struct SampleBucket: Hashable, Sendable {
    package let start: WallTime
    package private(set) var minima = Reading()
    package private(set) var maxima = Reading()
    package private(set) var means = Reading()
    /// Number of values of each quantity, as whole numbers.
    package private(set) var counts = Reading()

    package init(start: WallTime) { self.start = start }

    /// Leaves out quantities that lack one of the four values.
    package init(start: WallTime, minima: Reading, maxima: Reading, means: Reading, counts: Reading) {
        self.start = start
        let known = minima.known.intersection(maxima.known).intersection(means.known).intersection(counts.known)
        known.forEach { quantity in
            guard let count = counts[quantity], count >= 1 else { return }
            self.minima[quantity] = minima[quantity]
            self.maxima[quantity] = maxima[quantity]
            self.means[quantity] = means[quantity]
            self.counts[quantity] = count
        }
    }

    /// Number of readings: the greatest count of any quantity.
    package var readingCount: Int {
        var most = 0.0
        counts.known.forEach { most = max(most, counts[$0] ?? 0) }
        return Int(exactly: most.rounded()) ?? 1
    }

    /// - Parameter spread: extremes of the measurements of which `reading` has the means; nil for a single one.
    package mutating func add(_ reading: Reading, _ spread: ReadingSpread? = nil) {
        let count = spread.map { Double($0.count) } ?? 1
        reading.known.forEach { quantity in
            guard let value = reading[quantity] else { return }
            merge(
                quantity, min: spread?.least[quantity] ?? value, max: spread?.greatest[quantity] ?? value, mean: value,
                count: count)
        }
    }

    package mutating func merge(_ other: SampleBucket) {
        other.counts.known.forEach { quantity in
            guard let count = other.counts[quantity], let least = other.minima[quantity],
                let greatest = other.maxima[quantity], let mean = other.means[quantity]
            else { return }
            merge(quantity, min: least, max: greatest, mean: mean, count: count)
        }
    }

    private mutating func merge(
        _ quantity: Quantity, min least: Double, max greatest: Double, mean: Double, count: Double
    ) {
        guard let before = counts[quantity], let oldMean = means[quantity] else {
            minima[quantity] = least
            maxima[quantity] = greatest
            means[quantity] = mean
            counts[quantity] = count
            return
        }
        minima[quantity] = Swift.min(minima[quantity] ?? least, least)
        maxima[quantity] = Swift.max(maxima[quantity] ?? greatest, greatest)
        counts[quantity] = before + count
        // A sum of all values could overflow or lose digits.
        means[quantity] = oldMean + (mean - oldMean) * (count / (before + count))
    }
}
