import Domain
import GatewayAPI
import MeterCodec

/// The download of what a meter recorded by itself: what goes out next, and who waits for it.
struct LogDownload {
    typealias Outcome = CheckedContinuation<Result<MeterLogs, GatewayError>, Never>

    enum Act {
        /// Wait for the answer, or the rest of it.
        case wait
        /// Send these bytes, if any, and call `paused` after the time unless the whole answer came before.
        case send([UInt8], pause: Duration)
        case finished(MeterLogs)
        case failed(TransferFailure)
    }

    private var transfer: any MeterTransfer<MeterLogs>
    /// What is still to be sent before the answer.
    private var steps: [Outgoing] = []
    let outcome: Outcome
    /// The timer of the last `send`.
    var timer: LoopTimer?

    init(_ transfer: any MeterTransfer<MeterLogs>, _ outcome: Outcome) {
        self.transfer = transfer
        self.outcome = outcome
    }

    mutating func start() -> Act { follow(transfer.start()) }

    /// - Returns: also whether the bytes were a valid answer: the meter is alive, though it is not measured meanwhile.
    mutating func received(_ bytes: [UInt8]) -> (isProgress: Bool, Act) {
        let before = transfer.progress
        let step = transfer.receive(bytes)
        return (transfer.progress != before, follow(step))
    }

    /// The pause after a step is over, or the answer did not come in time.
    mutating func paused() -> Act { steps.isEmpty ? follow(transfer.answerOverdue()) : nextStep() }

    private mutating func follow(_ step: TransferStep<MeterLogs>) -> Act {
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
