/// When a meter is recorded by itself, and what counts as a gap.
package struct RecordingRules: Hashable, Sendable {
    /// Amperes, above 0. A recording begins when the current, in either direction, has been this large for `hold`, and
    /// ends when it has been smaller for as long. nil means recordings begin by hand alone.
    package var threshold: Double?
    /// How long the current must be on the other side of the threshold to count.
    package var hold: Duration
    /// A recording that began by the threshold ends where nothing comes for longer than this. One that began by hand goes
    /// on: only a hand ends it.
    package var gapMax: Duration
    /// Between two readings that are further apart than this, nobody knows what flowed: a gap, which is marked and not
    /// integrated.
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
