import GatewayAPI
import IOPorts
import MeterCodec
import MeterModel

/// What a meter recorded by itself, while it is read: what goes out next, and who waits for it.
struct LogDownload {
    typealias Outcome = CheckedContinuation<Result<KM003CLogDownload.Outcome, GatewayError>, Never>

    enum Act {
        /// The answer, or the rest of it, is waited for.
        case wait
        /// Send this, if it is not empty, and call `paused` after the time unless the whole answer came before.
        case send([UInt8], pause: Duration)
        case finished(KM003CLogDownload.Outcome)
        case failed(TransferFailure)
    }

    private var transfer: KM003CLogDownload
    /// What is still to be sent before the answer.
    private var steps: [Outgoing] = []
    let outcome: Outcome
    /// Of the last `send`.
    var timer: LoopTimer?

    init(_ transfer: KM003CLogDownload, _ outcome: Outcome) {
        self.transfer = transfer
        self.outcome = outcome
    }

    mutating func start() -> Act { follow(transfer.start()) }

    /// - Returns: also whether the bytes were an answer that counts: the meter is there, though it is not measured by
    ///   just now.
    mutating func received(_ bytes: [UInt8]) -> (isProgress: Bool, Act) {
        let before = transfer.progress
        let step = transfer.receive(bytes)
        return (transfer.progress != before, follow(step))
    }

    /// The pause after a step is over, or no answer came.
    mutating func paused() -> Act { steps.isEmpty ? follow(transfer.answerOverdue()) : nextStep() }

    private mutating func follow(_ step: TransferStep<KM003CLogDownload.Outcome>) -> Act {
        switch step {
        case .wait: return .wait
        case .send(let steps):
            self.steps = steps
            return nextStep()
        case .finished(let outcome): return .finished(outcome)
        case .failed(let failure): return .failed(failure)
        }
    }

    private mutating func nextStep() -> Act {
        let timeout = transfer.answerTimeout
        guard !steps.isEmpty else { return .send([], pause: timeout) }
        let step = steps.removeFirst()
        return .send(step.bytes, pause: steps.isEmpty ? max(step.pause, timeout) : step.pause)
    }
}
