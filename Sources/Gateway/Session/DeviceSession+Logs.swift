import ConnectionCore
import GatewayAPI
package import MeterCodec
import MeterModel

/// What a meter recorded by itself. While it is read the meter is asked nothing else.
extension DeviceSession {
    /// A download, and who waits for it.
    struct Download {
        var transfer: KM003CLogDownload
        /// What is to be sent, the next first, and whether the answer is awaited after it.
        var steps: [Outgoing] = []
        var timer: LoopTimer?
        var outcome: CheckedContinuation<Result<KM003CLogDownload.Outcome, GatewayError>, Never>
    }

    /// Reads the catalogue of a KM003C's logs, or one of them.
    ///
    /// - Throws: `notConnected`, `refused` for a model without logs and while another one is read, `notFound` for a log
    ///   that is not there.
    package func logs(_ wish: KM003CLogDownload.Wish) async throws(GatewayError) -> KM003CLogDownload.Outcome {
        guard model?.family == .km003c else {
            throw GatewayError(
                .refused, "\(id) is \(model.map { "a \($0.displayName)" } ?? "of no known model") and keeps no logs",
                next: "the models that do are the KM003C and KM002C")
        }
        guard exchange != nil, isLinkUp else {
            throw GatewayError(
                .notConnected, "\(id) is \(machine.state.rawValue), so it tells no logs", next: "meterctl connect \(id)"
            )
        }
        guard !isInJeopardy else {
            throw GatewayError(
                .refused, "the lease of \(id) could not be renewed for long, so it is asked for nothing more",
                next: "meterctl cloud status says why")
        }
        guard download == nil else {
            throw GatewayError(.refused, "logs of \(id) are being read already", next: "wait until they are there")
        }
        let result = await withCheckedContinuation { continuation in
            var begun = Download(
                transfer: KM003CLogDownload(wish, model: model ?? .km003c), outcome: continuation)
            let first = begun.transfer.start()
            download = begun
            follow(first)
        }
        return try result.get()
    }

    /// Bytes came while a download is under way: they are its own.
    func downloadReceived(_ bytes: [UInt8]) {
        guard var download else { return }
        let before = download.transfer.progress
        let step = download.transfer.receive(bytes)
        self.download = download
        // An answer that counts: the meter is there, though it is not measured by just now.
        if download.transfer.progress != before { note("log read") { machine.frameReceived(at: loop.now) } }
        follow(step)
    }

    /// The link is gone, or given up.
    func dropDownload() {
        finishDownload(
            .failure(GatewayError(.notConnected, "the link was lost before the logs were read", next: "try again")))
    }

    private func follow(_ step: TransferStep<KM003CLogDownload.Outcome>) {
        switch step {
        case .wait: break
        case .send(let steps):
            download?.steps = steps
            sendNextStep()
        case .finished(let outcome):
            let model = device?.model
            device = outcome.device
            device?.model = outcome.device.model ?? model
            finishDownload(.success(outcome))
        case .failed(let failure):
            let code: ErrorCode = if case .missing = failure { .notFound } else { .refused }
            finishDownload(.failure(GatewayError(code, "\(id): \(failure)", next: remedy(of: failure))))
        }
    }

    /// Nobody has shown that a serial port gives logs: its maker's interface does (Docs/Protocols/KM003C).
    private func remedy(of failure: TransferFailure) -> String {
        switch failure {
        case .silent, .refused:
            let isElsewhere = link?.transport == .serial && links.inOrder.contains { $0.transport == .bulk }
            return isElsewhere
                ? "meterctl connect \(id) --over bulk takes its maker's interface, which gives logs"
                : "meterctl logs \(id) lists them"
        case .missing, .unreadable: return "meterctl logs \(id) lists them"
        }
    }

    private func sendNextStep() {
        guard var download, let channel else { return }
        if let timer = download.timer { loop.cancel(timer) }
        var pause = download.transfer.answerTimeout
        if !download.steps.isEmpty {
            let step = download.steps.removeFirst()
            send(step.bytes, over: channel)
            if !download.steps.isEmpty || step.pause > pause { pause = step.pause }
        }
        download.timer = loop.schedule(at: loop.now + pause) { [weak self] in
            self?.assumeIsolated { $0.downloadPaused() }
        }
        self.download = download
    }

    /// The pause after a step is over, or no answer came.
    private func downloadPaused() {
        guard var download else { return }
        download.timer = nil
        self.download = download
        guard download.steps.isEmpty else { return sendNextStep() }
        let step = download.transfer.answerOverdue()
        self.download = download
        follow(step)
    }

    private func finishDownload(_ result: Result<KM003CLogDownload.Outcome, GatewayError>) {
        guard let finished = download.take() else { return }
        if let timer = finished.timer { loop.cancel(timer) }
        finished.outcome.resume(returning: result)
        // What was asked before is not answered any more, and the next question is due.
        _ = driver?.discardPartial()
        exchange?.answered()
        takeTurns()
        arm()
    }
}
