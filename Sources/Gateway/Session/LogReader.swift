import Domain
import GatewayAPI
package import MeterCodec

/// Reads the recordings in a meter's memory. Polling pauses meanwhile.
final class LogReader {
    private let line: MeterLine
    private let states: MeterStates
    private let catalogue: MeterCatalogue
    private var download: LogDownload?

    init(over line: MeterLine, _ states: MeterStates, _ catalogue: MeterCatalogue) {
        self.line = line
        self.states = states
        self.catalogue = catalogue
    }

    private var id: MeterID { states.id }

    var isReading: Bool { download != nil }

    func read(
        _ intent: LogRequest, isolation: isolated (any Actor)? = #isolation
    ) async throws(GatewayError) -> MeterLogs {
        guard let transfer = line.model.flatMap({ catalogue.logTransfer(intent, from: $0) }) else {
            let those = catalogue.modelsWithLogs.map(\.displayName).joined(separator: " and ")
            let model = line.model.map { "a \($0.displayName)" } ?? "of unknown model"
            throw GatewayError(
                .refused, "\(id) is \(model) and keeps no logs", next: "models with logs: \(those)")
        }
        guard line.exchange != nil, line.isUp else {
            throw GatewayError(
                .notConnected, "\(id) is \(states.machine.state.rawValue), so its logs cannot be read",
                next: "meterctl connect \(id)")
        }
        guard !line.isInJeopardy else { throw .jeopardy(id, "meterd reads no logs from it") }
        guard download == nil else {
            throw GatewayError(.refused, "meterd already reads logs of \(id)", next: "try again once they are read")
        }
        let result = await withCheckedContinuation { continuation in
            var begun = LogDownload(transfer, continuation)
            let first = begun.start()
            download = begun
            follow(first)
        }
        return try result.get()
    }

    func received(_ bytes: [UInt8]) {
        guard let (isProgress, act) = download?.received(bytes) else { return }
        if isProgress, states.frameReceived(because: "log read", at: states.now) { line.links.broughtData(line.link) }
        follow(act)
    }

    func paused() {
        download?.timer = nil
        if let act = download?.paused() { follow(act) }
    }

    func linkLost() {
        end(.failure(GatewayError(.notConnected, "the link was lost before the logs were read", next: "try again")))
    }

    private func follow(_ act: LogDownload.Act) {
        switch act {
        case .wait: break
        case .send(let bytes, let pause):
            guard line.isOpen else { return }
            if let timer = download?.timer { states.loop.cancel(timer) }
            line.send(bytes)
            download?.timer = line.timer(.logs, at: states.now + pause)
        case .finished(let outcome):
            var device = outcome.device
            device.model = device.model ?? line.device?.model
            line.learn(device)
            end(.success(outcome))
        case .failed(let failure):
            let code: ErrorCode = if case .missing = failure { .notFound } else { .refused }
            end(.failure(GatewayError(code, "\(id): \(failure)", next: remedy(of: failure))))
        }
    }

    /// Suggests the vendor-specific USB interface (`bulk`), because only this has been seen to deliver logs
    /// (Docs/Protocols/KM003C.md#link).
    private func remedy(of failure: TransferFailure) -> String {
        switch failure {
        case .silent, .refused:
            let isElsewhere = line.link?.transport == .serial && line.links.inOrder.contains { $0.transport == .bulk }
            return isElsewhere
                ? "meterctl connect \(id) --over bulk uses the maker's interface, which gives logs"
                : "meterctl logs \(id) lists them"
        case .missing, .unreadable: return "meterctl logs \(id) lists them"
        }
    }

    private func end(_ result: Result<MeterLogs, GatewayError>) {
        guard let finished = download.take() else { return }
        if let timer = finished.timer { states.loop.cancel(timer) }
        finished.outcome.resume(returning: result)
        // Earlier requests will get no answer.
        line.discardPartial()
        line.exchange?.answered()
    }
}

extension DeviceSession {
    /// Reads the catalogue of a meter's logs, or one log.
    ///
    /// - Throws: `notConnected`; `refused` for a model without logs or during another download; `notFound` for a
    ///   missing log.
    package func logs(_ intent: LogRequest) async throws(GatewayError) -> MeterLogs {
        try await talk.logs.read(intent)
    }
}
