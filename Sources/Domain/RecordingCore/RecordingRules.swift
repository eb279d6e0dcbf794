package struct RecordingRules: Hashable, Sendable {
    /// Current in amperes, above 0. A recording begins once the measured current, in either direction, has reached it
    /// for `hold`, and ends once that current has been smaller for `hold`. If nil, only users start recordings.
    package var threshold: Double?
    package var hold: Duration
    /// Silence that ends a battery test, or a recording begun by the threshold. Only users end other recordings.
    package var gapMax: Duration
    /// Longest distance between readings that is integrated. A longer one is a gap with unknown flow.
    package var stepMax: Duration

    package init(
        threshold: Double? = nil, hold: Duration = .seconds(10), gapMax: Duration = .seconds(600),
        stepMax: Duration = .seconds(10)
    ) {
        self.threshold = threshold
        self.hold = hold
        self.gapMax = gapMax
        self.stepMax = stepMax
    }
}
