/// A reading and when its bytes left the channel, stamped once, there.
package struct TimedReading: Hashable, Sendable {
    /// For people and for the store.
    package var wallTime: WallTime
    /// For order and age.
    package var time: MonotonicTime
    /// The measurement; of several, the mean of each quantity, and the times of the last.
    package var reading: Reading
    /// What several measurements had in common; nil for one.
    package var spread: ReadingSpread?
    /// The meter's data group whose energy and charge these are; nil for a meter without groups, and while it is unknown.
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

/// What several measurements had in common. An object, so that a single measurement carries no room for it.
package final class ReadingSpread: Hashable, Sendable {
    /// How many measurements; 1 or more.
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
