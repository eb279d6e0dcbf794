package import Domain

/// What is left of the readings of one second, minute or hour: per quantity the least, the greatest, the mean and how
/// many there were.
///
/// Adding readings one by one, or merging buckets that hold parts of them, comes to the same but for the last digits of
/// the mean.
package struct SampleBucket: Hashable, Sendable {
    /// Where it begins.
    package let start: WallTime
    package private(set) var minima = Reading()
    package private(set) var maxima = Reading()
    package private(set) var means = Reading()
    /// How many values of each quantity are in it, a whole number.
    package private(set) var counts = Reading()

    package init(start: WallTime) { self.start = start }

    /// One that was stored. Quantities that are not in all four are left out.
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

    /// Readings in it, as far as each had the most frequent quantity.
    var readingCount: Int {
        var most = 0.0
        counts.known.forEach { most = max(most, counts[$0] ?? 0) }
        return Int(exactly: most.rounded()) ?? 1
    }

    package mutating func add(_ reading: Reading) {
        reading.known.forEach { quantity in
            guard let value = reading[quantity] else { return }
            merge(quantity, min: value, max: value, mean: value, count: 1)
        }
    }

    /// Takes in what another bucket of the same time holds.
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
        // By the step towards the new mean, which neither overflows nor loses what a large sum would.
        means[quantity] = oldMean + (mean - oldMean) * (count / (before + count))
    }
}
