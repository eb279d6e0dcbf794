package import Domain

extension MeterSettings {
    /// - Parameter staleAfter: lower bound of `stepMax`, so that the pauses of a slow meter are no gaps.
    package func recordingRules(staleAfter: Duration) -> RecordingRules {
        var rules = RecordingRules(threshold: recordAbove)
        rules.hold = recordHold ?? rules.hold
        rules.gapMax = recordGap ?? rules.gapMax
        rules.stepMax = max(rules.stepMax, staleAfter)
        // A gap begins after `stepMax`. With a shorter `gapMax`, each gap would end the recording.
        rules.gapMax = max(rules.gapMax, rules.stepMax)
        return rules
    }
}
