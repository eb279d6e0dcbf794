/// When a meter is recorded automatically, and what counts as a gap.
package struct RecordingRules: Hashable, Sendable {
    /// Amperes, above 0. A recording begins when the current, in either direction, has been at least this large for
    /// `hold`, and ends when it has been smaller for as long. If nil, recordings are started only by hand.
    package var threshold: Double?
    /// How long the current must stay on the other side of the threshold.
    package var hold: Duration
    /// A recording started by the threshold ends if no reading comes for longer than this. One started by hand
    /// continues: only a person ends it.
    package var gapMax: Duration
    /// The longest time between two readings that is integrated. A longer one is marked as a gap, because what flowed
    /// is unknown.
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
