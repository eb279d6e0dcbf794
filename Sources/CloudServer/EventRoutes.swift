import Cloud
import CloudAPI
import Domain
import Hummingbird
import NIOCore

/// Server-sent events, each named after its field of `EventBody`.
extension CloudRoutes {
    /// Opens an event stream, which begins with a ping. The host receives all later changes, and fetches earlier ones
    /// itself.
    func events(_ call: Call, by principal: Principal) async throws -> Response {
        let zone = try call.zone
        let slot = try StreamSlot(.events, of: principal.credential.id, at: gate)
        let subscription = try await service.events(in: zone, by: principal)
        return try await Response.events(for: call.request, in: slot) { [clock] write in
            var number = 1
            let opening = EventBody(serverTime: clock.wallNow().millisecondsSince1970)
            try await write(try Self.event(opening, number: number))
            for await event in subscription {
                number += 1
                try await write(try Self.event(event, number: number))
            }
        }
    }

    /// Encodes an event. Its id is its number in this stream, and cannot be used to resume a stream.
    static func event(_ body: EventBody, number: Int) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "id: \(number)\nevent: \(body.name)\ndata: ")
        buffer.writeImmutableBuffer(try JSON.encode(body))
        buffer.writeString("\n\n")
        return buffer
    }
}
