import Cloud
import CloudAPI
import Hummingbird
import MeterModel
import NIOCore

/// The stream of events: server-sent events, each named after the field of `EventBody` that it has.
extension CloudRoutes {
    /// The first event, a ping, is sent at once: a host that has it misses nothing from then on. It fetches what
    /// happened before.
    func events(_ call: Call, by principal: Principal) async throws -> Response {
        let zone = try call.zone
        let slot = try StreamSlot(gate: gate, credential: principal.credential.id)
        let subscription = try await service.events(in: zone, by: principal)
        // The library notices the client's leaving by reading on, and traps if a response ends before the request has
        // been read to its end. So the end is read first, whatever the client sends.
        var request = call.request
        _ = try await request.collectBody(upTo: JSON.bodyBytesMax)
        let whole = request.body
        let body = ResponseBody { [clock] writer in
            // Kept as long as the stream, and freed with it even if that never begins.
            _ = slot
            try await whole.consumeWithCancellationOnInboundClose { rest in
                for try await _ in rest {}
                var number = 1
                let opening = EventBody(serverTime: clock.wallNow().millisecondsSince1970)
                try await writer.write(try Self.event(opening, number: number))
                for await event in subscription {
                    number += 1
                    try await writer.write(try Self.event(event, number: number))
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    /// `id`, `event` and `data` lines. The id counts the events of this stream; a stream cannot be resumed by it.
    static func event(_ body: EventBody, number: Int) throws -> ByteBuffer {
        let name =
            if body.change != nil { "change" } else if body.lease != nil { "lease" } else if body.offer != nil {
                "offer"
            } else { "ping" }
        var buffer = ByteBuffer(string: "id: \(number)\nevent: \(name)\ndata: ")
        buffer.writeImmutableBuffer(try JSON.encode(body))
        buffer.writeString("\n\n")
        return buffer
    }
}

/// One of the event streams that a credential may have open.
private final class StreamSlot: Sendable {
    private let gate: RequestGate
    private let credential: String

    init(gate: RequestGate, credential: String) throws(CloudFailure) {
        try gate.openStream(credential: credential)
        self.gate = gate
        self.credential = credential
    }

    deinit { gate.closeStream(credential: credential) }
}
