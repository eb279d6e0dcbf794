package struct TimedReading: Hashable, Sendable {
    package var wallTime: WallTime
    /// Arrival of the bytes from the meter; defines order and age.
    package var time: MonotonicTime
    /// One measurement, or the means of several; `time` and `wallTime` are then those of the last measurement.
    package var reading: Reading
    /// Nil for a single measurement.
    package var spread: ReadingSpread?
    /// Data group of energy and charge; nil for meters without groups, or while unknown.
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

/// Extremes of several measurements. A class, so that a reading of a single measurement reserves no space for them.
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
