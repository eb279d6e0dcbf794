/// A measurement, or several folded into one, sent from the holder to observers.
package struct RelayReading: Hashable, Sendable {
    /// Time from the measurement (of folded ones, the last) to the sending of its batch. It is measured on the holder's
    /// monotonic clock, so that observers can date the reading despite a wrong calendar.
    package var age: Duration
    /// Time of the measurement by the holder's calendar.
    package var wallTime: WallTime
    /// The measurement; of folded ones, the mean of each quantity.
    package var reading: Reading
    /// Spread of folded measurements; nil for a single measurement.
    package var spread: ReadingSpread?

    package init(age: Duration, wallTime: WallTime, reading: Reading, spread: ReadingSpread? = nil) {
        self.age = age
        self.wallTime = wallTime
        self.reading = reading
        self.spread = spread
    }
}

package struct RelayBatch: Hashable, Sendable {
    /// Number of the batch: the holder's boot-time clock, in milliseconds. Rises with each batch of one lease grant.
    package var number: UInt64
    /// Number of measurements dropped since the last batch.
    package var missed: Int
    /// Model of the meter, if known to the holder.
    package var model: String?
    /// State of the meter in the holder's own API; nil from an older version.
    package var state: String?
    /// Whether the holder shares readings. If false, the batch contains none.
    package var isShared = true
    /// Readings, oldest first.
    package var readings: [RelayReading]

    /// - Parameter now: time by the holder's boot-time clock, so that numbers also rise after a restart of the sender.
    ///   Observers do not notice such a restart.
    package init(at now: MonotonicTime, missed: Int, readings: [RelayReading]) {
        self.init(number: UInt64(clamping: (now - .origin).milliseconds), missed: missed, readings: readings)
    }

    package init(number: UInt64, missed: Int, readings: [RelayReading]) {
        self.number = number
        self.missed = missed
        self.readings = readings
    }
}
