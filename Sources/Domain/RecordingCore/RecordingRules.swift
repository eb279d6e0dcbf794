package struct RecordingRules: Hashable, Sendable {
    /// Threshold in amperes, above 0. A recording begins after the current, in either direction, was at least this
    /// large for `hold`. It ends after the current was smaller for `hold`. If nil, only users start recordings.
    package var threshold: Double?
    package var hold: Duration
    /// Silence after which a recording begun by the threshold, or a battery test, ends. Only a user ends other
    /// recordings.
    package var gapMax: Duration
    /// Longest time between two readings that is integrated. A longer one is a gap, because its flow is unknown.
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
