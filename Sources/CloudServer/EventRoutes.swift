import Cloud
import CloudAPI
import Hummingbird
import MeterModel
import NIOCore

/// The stream of events: server-sent events, each named by the field of `EventBody` that it has.
extension CloudRoutes {
    /// The first event, a ping, goes out at once: a host that has it knows that it misses nothing from then on. What
    /// happened before, it fetches.
    func events(_ call: Call, by principal: Principal) async throws -> Response {
        let zone = try call.zone
        let slot = try StreamSlot(gate: gate, credential: principal.credential.id)
        let subscription = try await service.events(in: zone, by: principal)
        // The library watches for the client's leaving by reading on, and traps where an answer is over before it has
        // come to the end of the request. So that end is passed first, whatever the client sends.
        var request = call.request
        _ = try await request.collectBody(upTo: JSON.bodyBytesMax)
        let whole = request.body
        let body = ResponseBody { [clock] writer in
            // Kept for as long as the stream is, and freed with it even if it never begins.
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

    /// `id`, `event` and `data` lines. The id counts the events of this stream; there is nothing to resume by it.
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
