package import Domain

/// A reading of a meter, from this host's own session or from the host that has the meter.
package struct WatchedReading: Sendable {
    /// Where it was measured, if not here.
    package struct Origin: Hashable, Sendable {
        package var holder: String
        package var token: FencingToken
        /// The meter's model, as far as that host knows.
        package var model: String?
    }

    /// By this host's calendar.
    package var wallTime: WallTime
    package var reading: Reading
    /// Nil for one measurement.
    package var spread: ReadingSpread?
    package var origin: Origin?
    /// Measurements lost before this one, on their way here.
    package var missed = 0
}
