package import Domain

/// Reading from this host's own session or from another holder.
package struct WatchedReading: Sendable {
    package struct Origin: Hashable, Sendable {
        package var holder: String
        package var token: FencingToken
        /// Meter's model, if the holder knows it.
        package var model: String?
    }

    /// Time by this host's calendar.
    package var wallTime: WallTime
    package var reading: Reading
    /// Spread of the combined measurements; nil for a single measurement.
    package var spread: ReadingSpread?
    package var origin: Origin?
    /// Number of measurements lost in transit before this one.
    package var missed = 0
}
