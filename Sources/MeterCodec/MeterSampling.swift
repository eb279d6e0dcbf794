/// Rate of a meter that samples by its own clock, and the reason if it is not the wanted rate.
package struct MeterSampling: Hashable, Sendable {
    /// Samples per second by the meter's own clock, which the meter stores until fetched; nil if each poll fetches one
    /// measurement.
    package var rate: Int?
    /// Request interval that this rate needs; nil for the user's poll interval.
    package var requestInterval: Duration?
    /// Reason why the rate is not the wanted rate; nil if it is, or while the driver is setting it.
    package var failure: String?

    package init(rate: Int? = nil, requestInterval: Duration? = nil, failure: String? = nil) {
        self.rate = rate
        self.requestInterval = requestInterval
        self.failure = failure
    }
}
