/// A reading on its way from the host that measures to those that watch: one measurement, or several folded into one.
package struct RelayReading: Hashable, Sendable {
    /// How long before its batch was sent it was measured; of folded ones, the last. Counted on the holder's monotonic
    /// clock, so that an observer knows the time of a reading even where the holder's calendar is wrong.
    package var age: Duration
    /// By the holder's calendar.
    package var wallTime: WallTime
    /// The measurement; of folded ones, the mean of each quantity.
    package var reading: Reading
    /// Nil for one measurement.
    package var spread: ReadingSpread?

    package init(age: Duration, wallTime: WallTime, reading: Reading, spread: ReadingSpread? = nil) {
        self.age = age
        self.wallTime = wallTime
        self.reading = reading
        self.spread = spread
    }
}

/// The readings that were sent together.
package struct RelayBatch: Hashable, Sendable {
    /// Rises with each batch of one grant of the lease: the holder's boot-time clock, in milliseconds.
    package var number: UInt64
    /// Measurements that were dropped since the last batch.
    package var missed: Int
    /// The meter's model, as far as the holder knows.
    package var model: String?
    /// The meter's state at the holder, as its own API names it; nil from an older one.
    package var state: String?
    /// False where the holder keeps its readings to itself; there are none then.
    package var isShared = true
    /// Oldest first.
    package var readings: [RelayReading]

    /// - Parameter now: by the holder's boot-time clock. So numbers rise also after a restart of the sending, of which an
    ///   observer does not know.
    package init(at now: MonotonicTime, missed: Int, readings: [RelayReading]) {
        self.init(number: UInt64(clamping: (now - .origin).milliseconds), missed: missed, readings: readings)
    }

    package init(number: UInt64, missed: Int, readings: [RelayReading]) {
        self.number = number
        self.missed = missed
        self.readings = readings
    }
}
