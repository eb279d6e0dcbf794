package import Domain

/// The driver of a board that sends lines, by itself or when it is asked (Docs/Meters/GENERIC.md).
package struct LineDriver: MeterDriver {
    package let profile: MeterProfile
    private let description: LineDescription
    private let startsMidLine: Bool
    private var decoder: LineDecoder

    /// - Parameter startsMidLine: whether the first bytes of a link may be the rest of a line.
    package init(model: ModelName, _ description: LineDescription, startsMidLine: Bool = true) {
        self.description = description
        self.startsMidLine = startsMidLine
        decoder = LineDecoder(description, startsMidLine: startsMidLine)
        let rhythm: MeterProfile.Rhythm =
            description.request.isEmpty
            ? .push(expected: description.interval, keepAlive: nil)
            : .poll(interval: description.interval, shortest: min(description.interval, .milliseconds(100)))
        profile = MeterProfile(
            model: model, rhythm: rhythm, answerTimeout: .seconds(2), baudRate: description.baudRate,
            counterSteps: .whole)
    }

    /// Waits, where the board is asked, until one that was reset by the opening listens again, and asks once. That answer, or
    /// what the board happened to be sending, counts for nothing: its beginning may be missing.
    package mutating func opening() -> [Outgoing] {
        decoder = LineDecoder(description, startsMidLine: startsMidLine)
        guard !description.request.isEmpty else { return [] }
        return [Outgoing([], pause: description.settle), Outgoing(description.request, pause: .milliseconds(500))]
    }

    package mutating func poll() -> [UInt8] { description.request }

    /// What was no reading and need not be one is not told: the rest of a line, blank lines and comments.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        while let step = decoder.next() {
            switch step {
            case .frame(let frame): handle(.frame(frame))
            case .skipped(let count, let error):
                if decoder.lastSkip == .misfit { handle(.skipped(count: count, because: error)) }
            }
        }
    }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
