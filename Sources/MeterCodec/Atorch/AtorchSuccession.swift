import Domain

/// What of a report is held against the one before it: a report of a meter that sends no check byte, or one that nobody has
/// worked out, proves itself by going on as the last (Docs/Protocols/Atorch.md#a-break).
struct AtorchSuccession: Successor {
    private let type: AtorchReportType
    private let level: StepLevel
    /// In the meter's own steps.
    private let counters: [Int]
    /// Price or limits, which a person sets.
    private let settings: [Int]
    private let seconds: Int

    init(_ report: AtorchReport) {
        type = report.type
        let reading = report.reading
        level = StepLevel(
            voltage: reading[.voltage] ?? 0, current: reading[.current] ?? 0, voltagePart: type == .ac ? 0.05 : 0.1)
        (counters, settings, seconds) = (report.counters, report.settings, report.duration ?? 0)
    }

    func breaks(with last: AtorchSuccession) -> Bool { level.isStep(from: last.level) || !follows(last) }

    /// After a pause of the link, time and counters have gone on for longer. One that did not go on from the last while the next
    /// does is damaged.
    func isConfirmed(by next: AtorchSuccession, after last: AtorchSuccession?) -> Bool {
        guard let last else { return true }
        return (follows(last) || !next.follows(last)) && next.goesOn(from: self, steps: 10_000, seconds: 3600)
            && level.isConfirmed(by: next.level, after: last.level)
    }

    private func follows(_ last: AtorchSuccession) -> Bool { goesOn(from: last, steps: 50, seconds: 5) }

    /// Counters rise by a little, time goes on, and nobody sets anything from one second to the next.
    private func goesOn(from last: AtorchSuccession, steps: Int, seconds: Int) -> Bool {
        type == last.type && settings == last.settings && (0...seconds).contains(self.seconds - last.seconds)
            && zip(counters, last.counters).allSatisfy { (0...steps).contains($0 - $1) }
    }
}
