package struct TimedReading: Hashable, Sendable {
    package var wallTime: WallTime
    /// Time at which the bytes were read from the channel; used for order and age.
    package var time: MonotonicTime
    /// A single measurement, or the means of several measurements with the times of the last.
    package var reading: Reading
    /// Spread of several measurements; nil for a single measurement.
    package var spread: ReadingSpread?
    /// The meter's data group of this energy and charge; nil for a meter without groups, and while it is unknown.
    package var group: Int?

    package init(
        wallTime: WallTime, time: MonotonicTime, reading: Reading, spread: ReadingSpread? = nil, group: Int? = nil
    ) {
        self.spread = spread
        self.group = group
        self.wallTime = wallTime
        self.time = time
        self.reading = reading
    }
}

/// Extremes of several measurements. A class, so that a single measurement reserves no space for it.
package final class ReadingSpread: Hashable, Sendable {
    package let count: Int
    package let least: Reading
    package let greatest: Reading

    package init(count: Int, least: Reading, greatest: Reading) {
        self.count = count
        self.least = least
        self.greatest = greatest
    }

    package static func == (one: ReadingSpread, other: ReadingSpread) -> Bool {
        one.count == other.count && one.least == other.least && one.greatest == other.greatest
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(least)
        hasher.combine(greatest)
    }
}
