import AsyncHTTPClient
import CloudAPI
import Domain
import FoundationEssentials
package import Gateway
import NIOCore
import NIOHTTP1

extension CloudClient {
    package func events() -> AsyncThrowingStream<CloudEvent, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(4096)) { continuation in
            let task = Task {
                do {
                    try await self.follow { event throws(SyncFailure) in
                        // If the full buffer dropped an event, throw, so that the caller opens the stream again and
                        // lists everything.
                        guard case .dropped = continuation.yield(event) else { return }
                        throw SyncFailure(.network, "events came faster than they were taken")
                    }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func follow(_ hear: (CloudEvent) throws(SyncFailure) -> Void) async throws(SyncFailure) -> Never {
        try await follow(zonePath("events"), opened: { () throws(SyncFailure) in try hear(.opened) }) { event in
            if let known = try Self.event(event) { try hear(known) }
        }
    }

    func follow(
        _ path: String, opened: () throws(SyncFailure) -> Void = {},
        _ hear: (ServerSentEvents.Event) throws -> Void
    ) async throws(SyncFailure) -> Never {
        let index = addressIndex
        let response = try await openStream(path, at: index)
        try opened()
        var reader = ServerSentEvents()
        do {
            for try await piece in response.body {
                for event in try reader.append(piece.readableBytesView) { try hear(event) }
            }
        } catch let failure as SyncFailure {
            throw failure
        } catch is ServerSentEvents.TooLong {
            throw SyncFailure(.other, "the cloud sent an event longer than \(ServerSentEvents.bytesMax) bytes")
        } catch let error as DecodingError {
            throw SyncFailure(.other, "an event of the cloud cannot be read: \(words(for: error))")
        } catch {
            if !Task.isCancelled { giveUp(index) }
            throw SyncFailure(.network, "the event stream broke: \(SyncFailure.words(for: error))")
        }
        // A regular end means that this replica is stopping, so switch to the next replica.
        giveUp(index)
        throw SyncFailure(.network, "the cloud ended the event stream")
    }

    private func openStream(_ path: String, at index: Int) async throws(SyncFailure) -> HTTPClientResponse {
        do throws(CallFailure) {
            return try await send(
                .GET, path, body: Optional<String>.none, deadline: .distantFuture,
                headers: [("accept", "text/event-stream")], to: index)
        } catch {
            throw error.failure
        }
    }

    /// Decodes an event; nil for an unknown one.
    static func event(_ event: ServerSentEvents.Event) throws -> CloudEvent? {
        guard ["change", "lease", "offer", "interest", "command", "log", "ping"].contains(event.name) else {
            return nil
        }
        return CloudEvent(try JSONDecoder().decode(EventBody.self, from: Data(event.data.utf8)))
    }
}
