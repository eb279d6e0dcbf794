import Domain

/// The part of a report that is compared with the previous report. A report without a known check byte is valid if it
/// continues the previous one (Docs/Protocols/Atorch.md#a-break).
struct AtorchSuccession: Successor {
    private let type: AtorchReportType
    private let level: StepLevel
    private let counters: [Int]
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

    /// Accepts larger steps to `next` than `breaks` does, because the link may have paused. Returns false if `next`
    /// continues `last` but this report does not, which shows damage.
    func isConfirmed(by next: AtorchSuccession, after last: AtorchSuccession?) -> Bool {
        guard let last else { return true }
        return (follows(last) || !next.follows(last)) && next.goesOn(from: self, steps: 10_000, seconds: 3600)
            && level.isConfirmed(by: next.level, after: last.level)
    }

    private func follows(_ last: AtorchSuccession) -> Bool { goesOn(from: last, steps: 50, seconds: 5) }

    private func goesOn(from last: AtorchSuccession, steps: Int, seconds: Int) -> Bool {
        type == last.type && settings == last.settings && (0...seconds).contains(self.seconds - last.seconds)
            && zip(counters, last.counters).allSatisfy { (0...steps).contains($0 - $1) }
    }
}
