package import Domain

/// Driver of a board that sends lines by itself or on request (Docs/Meters/GENERIC.md).
package struct LineDriver: MeterDriver {
    package let profile: MeterProfile
    private let description: LineDescription
    private let startsMidLine: Bool
    private var decoder: LineDecoder

    package init(model: ModelName, _ description: LineDescription, startsMidLine: Bool = true) {
        self.description = description
        self.startsMidLine = startsMidLine
        decoder = LineDecoder(description, startsMidLine: startsMidLine)
        let rhythm: MeterProfile.Rhythm =
            description.request.isEmpty
            ? .push(expected: description.interval, keepAlive: nil)
            : .poll(interval: description.interval, shortest: min(description.interval, description.shortestInterval))
        profile = MeterProfile(
            model: model, rhythm: rhythm, answerTimeout: .seconds(2), baudRate: description.baudRate,
            counterSteps: .whole)
    }

    /// Returns the first request, if needed, after a pause for the board's reset.
    package mutating func opening() -> [Outgoing] {
        decoder = LineDecoder(description, startsMidLine: startsMidLine)
        guard !description.request.isEmpty else { return [] }
        return [Outgoing([], pause: description.settle), Outgoing(description.request, pause: .milliseconds(500))]
    }

    package mutating func poll() -> [UInt8] { description.request }

    /// Blank lines, comments, and the rest of a partly missed line cause no event.
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
