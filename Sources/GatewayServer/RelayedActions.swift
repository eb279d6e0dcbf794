package import Domain
package import Gateway
import GatewayAPI
import Hummingbird

/// Performs other hosts' actions on this host's meters. Responses equal those of this host's API.
package struct RelayedActions: Sendable {
    private let directory: MeterDirectory
    private let recordings: RecordingService

    package init(directory: MeterDirectory, recordings: RecordingService) {
        self.directory = directory
        self.recordings = recordings
    }

    /// - Returns: the response as JSON text; nil if there is nothing to report.
    package func perform(
        _ action: RelayAction, of meter: MeterID, by deadline: MonotonicTime
    ) async throws(GatewayError) -> String? {
        switch action {
        case .command(let command):
            guard let session = await directory.session(of: meter) else {
                throw GatewayError(.noSuchMeter, "no meter is called \(meter) any more", next: "meterctl who")
            }
            try await session.perform(command, by: deadline)
            return nil
        case .startRecording(let name): return try await text(of: try await recordings.start(meter, name: name))
        case .stopRecording: return try await text(of: try await recordings.stop(meter))
        case .unknown(let kind):
            throw GatewayError(.badRequest, "this host does not know \"\(kind)\"", next: "update it")
        }
    }

    private func text(of recording: Recording) async throws(GatewayError) -> String {
        let entry = try await recordings.entry(of: recording)
        return try await GatewayError.doing("telling of the recording \(recording.id.short)") {
            String(buffer: try JSON.encode(RecordingBody(entry)))
        }
    }
}
