/// A reading and when its bytes left the channel, stamped once, there.
package struct TimedReading: Hashable, Sendable {
    /// For people and for the store.
    package var wallTime: WallTime
    /// For order and age.
    package var time: MonotonicTime
    package var reading: Reading

    package init(wallTime: WallTime, time: MonotonicTime, reading: Reading) {
        self.wallTime = wallTime
        self.time = time
        self.reading = reading
    }
}
