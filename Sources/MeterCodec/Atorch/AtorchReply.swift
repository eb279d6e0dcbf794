package import MeterModel

/// What an Atorch meter says to a command: 8 bytes, `FF 55 02 <a> <b> 00 00 <check>` (protocols.md 6.3).
package struct AtorchReply: Hashable, Sendable {
    package static let length = 8

    package let outcome: Outcome

    package enum Outcome: String, CaseIterable, Sendable {
        case done = "ok"
        case failed
        case unsupported
        /// 00 00: the meter says that this means nothing.
        case undefined
    }

    package init(_ outcome: Outcome) { self.outcome = outcome }

    /// - Returns: nil when the two bytes that carry the answer are none that is known.
    package init?(first: UInt8, second: UInt8) {
        switch (first, second) {
        case (1, 1): outcome = .done
        case (1, 2): outcome = .failed
        case (1, 3): outcome = .unsupported
        case (0, 0): outcome = .undefined
        default: return nil
        }
    }

    /// The reply as the meter sends it.
    package var bytes: [UInt8] {
        let answer: [UInt8] =
            switch outcome {
            case .done: [1, 1]
            case .failed: [1, 2]
            case .unsupported: [1, 3]
            case .undefined: [0, 0]
            }
        let body = [0x02] + answer + [0, 0]
        return [0xFF, 0x55] + body + [AtorchCheck.byte(over: body)]
    }
}

extension AtorchReply: FrameContent {
    package var model: ModelName? { nil }
    package func forEachReading(_ body: (Reading) -> Void) {}
    package var details: [FrameDetail] { [FrameDetail("reply", .text(outcome.rawValue))] }
}
