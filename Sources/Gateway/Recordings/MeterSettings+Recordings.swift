package import Domain

extension MeterSettings {
    /// What a person set of recordings.
    ///
    /// - Parameter staleAfter: without a reading for so long the meter has no data: a slow meter's readings are no gaps.
    package func recordingRules(staleAfter: Duration) -> RecordingRules {
        var rules = RecordingRules(threshold: recordAbove)
        rules.hold = recordHold ?? rules.hold
        rules.gapMax = recordGap ?? rules.gapMax
        rules.stepMax = max(rules.stepMax, staleAfter)
        // Else each single gap would be its end.
        rules.gapMax = max(rules.gapMax, rules.stepMax)
        return rules
    }
}
