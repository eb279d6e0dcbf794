/// One measurement, or several combined, for observers.
package struct RelayReading: Hashable, Sendable {
    /// Duration from the (last) measurement to the sending of its batch, by the holder's monotonic clock, because its
    /// system clock may be wrong.
    package var age: Duration
    /// Time of the measurement by the holder's system clock.
    package var wallTime: WallTime
    /// The measurement; the means if several were combined.
    package var reading: Reading
    /// Nil for a single measurement.
    package var spread: ReadingSpread?

    package init(age: Duration, wallTime: WallTime, reading: Reading, spread: ReadingSpread? = nil) {
        self.age = age
        self.wallTime = wallTime
        self.reading = reading
        self.spread = spread
    }
}

package struct RelayBatch: Hashable, Sendable {
    /// The holder's monotonic clock in milliseconds. Ascends with each batch under one lease.
    package var number: UInt64
    /// Measurements dropped since the previous batch.
    package var missed: Int
    /// Nil if the holder does not know it.
    package var model: String?
    /// State of the meter as in the holder's API; nil from an older version.
    package var state: String?
    /// If false, the holder shares no readings.
    package var isShared = true
    /// Oldest first.
    package var readings: [RelayReading]

    /// - Parameter now: the holder's monotonic clock, so that batch numbers ascend even after a restart of the sender.
    package init(at now: MonotonicTime, missed: Int, readings: [RelayReading]) {
        self.init(number: UInt64(clamping: (now - .origin).milliseconds), missed: missed, readings: readings)
    }

    package init(number: UInt64, missed: Int, readings: [RelayReading]) {
        self.number = number
        self.missed = missed
        self.readings = readings
    }
}
