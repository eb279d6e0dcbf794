package import Domain

/// Reading from this host's own session or from the meter's holder.
package struct WatchedReading: Sendable {
    package struct Origin: Hashable, Sendable {
        package var holder: String
        package var token: FencingToken
        /// Nil if the holder does not know the model.
        package var model: String?
    }

    /// Time of the reading by this host's system clock.
    package var wallTime: WallTime
    package var reading: Reading
    /// Nil for a single measurement.
    package var spread: ReadingSpread?
    package var origin: Origin?
    /// Measurements lost in transit before this one.
    package var missed = 0
}
