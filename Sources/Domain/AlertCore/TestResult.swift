package struct TestResult: Hashable, Sendable {
    /// First eight digits of the recording's id (`RecordingID.short`).
    package var recording: String
    /// `cutoff`; `gap` after too long a silence of the meter; `load` if the load could not be switched on.
    package var end: String
    /// Charge regardless of the current's direction; nil if nothing was measured.
    package var charge_mAh: Double?
    package var energy_Wh: Double?
    /// Duration up to the last counted reading, including gaps.
    package var duration: Duration
    package var gapTime: Duration
    package var gapCount: Int

    package init(
        recording: String, end: String, charge_mAh: Double?, energy_Wh: Double?, duration: Duration, gapTime: Duration,
        gapCount: Int
    ) {
        self.recording = recording
        self.end = end
        self.charge_mAh = charge_mAh
        self.energy_Wh = energy_Wh
        self.duration = duration
        self.gapTime = gapTime
        self.gapCount = gapCount
    }

    /// Result for users, followed by any remarks: `2345 mAh and 11.72 Wh in 3 h 20 min`.
    package var message: String {
        var text =
            if let charge_mAh, let energy_Wh {
                "\(Self.text(charge_mAh, 0)) mAh and \(Self.text(energy_Wh, 2)) Wh in \(Self.words(duration))"
            } else { "nothing was measured" }
        if end == "gap" { text += "; the meter was not heard any more, which need not be the battery's end" }
        if end == "load" { text += "; the load could not be switched on" }
        if gapCount > 0 {
            let gaps = gapCount == 1 ? "a gap" : "\(gapCount) gaps"
            text += "; what flowed in \(gaps), \(Self.words(gapTime)) in all, is not in it"
        }
        return text
    }

    private static func text(_ value: Double, _ digits: Int) -> String {
        guard value.magnitude < 1e12 else { return "\(value)" }
        let hundredths = Int64((value * 100).rounded())
        guard digits > 0 else { return "\(Int64(value.rounded()))" }
        let rest = hundredths.magnitude % 100
        return "\(hundredths < 0 ? "-" : "")\(hundredths.magnitude / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    private static func words(_ length: Duration) -> String {
        let seconds = max(0, length.milliseconds) / 1000
        let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "min"), (seconds < 3600 ? seconds % 60 : 0, "s")]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }
}
