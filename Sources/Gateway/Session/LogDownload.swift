import Domain
import GatewayAPI
import MeterCodec

struct LogDownload {
    typealias Outcome = CheckedContinuation<Result<MeterLogs, GatewayError>, Never>

    enum Act {
        case wait
        /// Send the bytes, if any. After `pause`, call `paused` unless the answer is complete.
        case send([UInt8], pause: Duration)
        case finished(MeterLogs)
        case failed(TransferFailure)
    }

    private var transfer: any MeterTransfer<MeterLogs>
    private var steps: [Outgoing] = []
    let outcome: Outcome
    var timer: LoopTimer?

    init(_ transfer: any MeterTransfer<MeterLogs>, _ outcome: Outcome) {
        self.transfer = transfer
        self.outcome = outcome
    }

    mutating func start() -> Act { follow(transfer.start()) }

    /// - Returns: whether the bytes advanced the download, and the next action.
    mutating func received(_ bytes: [UInt8]) -> (isProgress: Bool, Act) {
        let before = transfer.progress
        let step = transfer.receive(bytes)
        return (transfer.progress != before, follow(step))
    }

    /// Continues after a pause or an answer timeout.
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
