import Cloud
import Hummingbird
import NIOCore

extension Response {
    /// Sends the server-sent events of `body`, until it returns or the client disconnects.
    ///
    /// - Parameter slot: freed with the stream, even if the stream never begins.
    static func events(
        for request: Request, in slot: StreamSlot,
        _ body: @escaping @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void
    ) async throws -> Response {
        // The library detects a disconnecting client by reading on, and traps if a response ends before the whole
        // request was read. So read it first.
        var request = request
        _ = try await request.collectBody(upTo: JSON.bodyBytesMax)
        let whole = request.body
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                _ = slot
                try await whole.consumeWithCancellationOnInboundClose { rest in
                    for try await _ in rest {}
                    try await body { try await writer.write($0) }
                }
                try await writer.finish(nil)
            })
    }
}

/// One of a credential's limited number of event streams.
final class StreamSlot: Sendable {
    private let gate: RequestGate
    private let kind: RequestGate.StreamKind
    private let credential: String

    init(_ kind: RequestGate.StreamKind, of credential: String, at gate: RequestGate) throws(CloudFailure) {
        try gate.openStream(kind, credential: credential)
        self.gate = gate
        self.kind = kind
        self.credential = credential
    }

    deinit { gate.closeStream(kind, credential: credential) }
}
