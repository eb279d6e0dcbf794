import Domain
import GatewayAPI
package import MeterCodec

/// Reads what a meter recorded by itself, one log at a time. The exchange rests meanwhile, and is due when that ends.
final class LogReader {
    private let line: MeterLine
    private let states: MeterStates
    private let catalogue: MeterCatalogue
    /// The download under way, if any.
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
            let model = line.model.map { "a \($0.displayName)" } ?? "of no known model"
            throw GatewayError(
                .refused, "\(id) is \(model) and keeps no logs", next: "the models that do are the \(those)")
        }
        guard line.exchange != nil, line.isUp else {
            throw GatewayError(
                .notConnected, "\(id) is \(states.machine.state.rawValue), so it tells no logs",
                next: "meterctl connect \(id)")
        }
        guard !line.isInJeopardy else { throw .jeopardy(id, "it is asked for nothing more") }
        guard download == nil else {
            throw GatewayError(.refused, "logs of \(id) are being read already", next: "wait until they are there")
        }
        let result = await withCheckedContinuation { continuation in
            var begun = LogDownload(transfer, continuation)
            let first = begun.start()
            download = begun
            follow(first)
        }
        return try result.get()
    }

    /// Handles bytes that come during a download: they belong to it.
    func received(_ bytes: [UInt8]) {
        guard let (isProgress, act) = download?.received(bytes) else { return }
        if isProgress, states.frameReceived(because: "log read", at: states.now) { line.links.broughtData(line.link) }
        follow(act)
    }

    /// The pause that was asked for is over.
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

    /// What to try after a failed transfer. No serial port has been seen to give logs, only the maker's interface
    /// (Docs/Protocols/KM003C.md#link).
    private func remedy(of failure: TransferFailure) -> String {
        switch failure {
        case .silent, .refused:
            let isElsewhere = line.link?.transport == .serial && line.links.inOrder.contains { $0.transport == .bulk }
            return isElsewhere
                ? "meterctl connect \(id) --over bulk takes its maker's interface, which gives logs"
                : "meterctl logs \(id) lists them"
        case .missing, .unreadable: return "meterctl logs \(id) lists them"
        }
    }

    private func end(_ result: Result<MeterLogs, GatewayError>) {
        guard let finished = download.take() else { return }
        if let timer = finished.timer { states.loop.cancel(timer) }
        finished.outcome.resume(returning: result)
        // What was asked before will not be answered any more.
        line.discardPartial()
        line.exchange?.answered()
    }
}

extension DeviceSession {
    /// Reads the catalogue of a meter's logs, or one of them.
    ///
    /// - Throws: `notConnected`, `refused` for a model without logs and while another one is read, `notFound` for a log
    ///   that is not there.
    package func logs(_ intent: LogRequest) async throws(GatewayError) -> MeterLogs {
        try await talk.logs.read(intent)
    }
}
