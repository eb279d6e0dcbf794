/// Sampling state of a meter with its own clock: the rate, and the reason if it is not the wanted rate.
package struct MeterSampling: Hashable, Sendable {
    /// Samples per second by the meter's own clock; the meter stores them until they are fetched. Nil while each poll
    /// fetches one measurement.
    package var rate: Int?
    /// Request interval that this rate needs; nil for the user's poll interval.
    package var requestInterval: Duration?
    /// Reason why the meter does not sample at the wanted rate; nil while it does, or while the driver still sets the
    /// rate.
    package var failure: String?

    package init(rate: Int? = nil, requestInterval: Duration? = nil, failure: String? = nil) {
        self.rate = rate
        self.requestInterval = requestInterval
        self.failure = failure
    }
}
