import Cloud
import CloudAPI
import Hummingbird
import NIOCore

/// Watching a meter: server-sent events, each named after the field of `RelayEventBody` that it has.
extension CloudRoutes {
    /// The first event says who has the meter. `?all=true` asks for every reading, however fast they come.
    func watch(_ call: Call, by principal: Principal) async throws -> Response {
        let wantsAll = try call.flag("all")
        let slot = try StreamSlot(.watches, of: principal.credential.id, at: gate)
        let subscription = try await service.watch(
            try call.meter, wantsAll: wantsAll, in: try call.zone, by: principal)
        return try await Response.events(for: call.request, in: slot) { write in
            for await item in subscription {
                if item.missed > 0 {
                    try await write(ByteBuffer(bytes: try Self.text(RelayEventBody(missed: item.missed))))
                }
                try await write(ByteBuffer(bytes: try item.event.text(Self.text)))
            }
        }
    }

    private static func text(_ body: RelayEventBody) throws -> [UInt8] {
        Array("event: \(body.name)\ndata: ".utf8) + Array(buffer: try JSON.encode(body)) + Array("\n\n".utf8)
    }
}
