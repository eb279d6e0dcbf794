/// How a meter with its own clock samples: the rate, and the reason if it is not the wanted one.
package struct MeterSampling: Hashable, Sendable {
    /// Samples per second by the meter's own clock, which keeps them until they are fetched. Nil while each poll
    /// fetches one measurement.
    package var rate: Int?
    /// Interval at which this rate needs a request; nil for the user's poll interval.
    package var requestInterval: Duration?
    /// Reason why the meter does not sample at the wanted rate; nil while it does or is still preparing.
    package var failure: String?

    package init(rate: Int? = nil, requestInterval: Duration? = nil, failure: String? = nil) {
        self.rate = rate
        self.requestInterval = requestInterval
        self.failure = failure
    }
}
