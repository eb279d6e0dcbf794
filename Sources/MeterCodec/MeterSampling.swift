/// How a meter samples that has a clock of its own: at which rate, and why not at the one that was asked for.
package struct MeterSampling: Hashable, Sendable {
    /// Samples a second that the meter takes by its own clock and keeps until they are fetched; nil while each poll gets
    /// one measurement.
    package var rate: Int?
    /// How often it has to be asked meanwhile, whatever poll interval a person set; nil for that interval.
    package var requestInterval: Duration?
    /// Why it does not sample at the rate that was asked for; nil while it does, or still prepares to.
    package var failure: String?

    package init(rate: Int? = nil, requestInterval: Duration? = nil, failure: String? = nil) {
        self.rate = rate
        self.requestInterval = requestInterval
        self.failure = failure
    }
}
