import Cloud
import CloudAPI
import Hummingbird
import NIOCore

/// Routes of meters that other hosts hold (Docs/Relay.md).
extension CloudRoutes {
    func respondRelay(_ call: Call, by principal: Principal) async throws -> Response {
        switch call.route {
        case .watchReadings: return try await watch(call, by: principal)
        case .relayReadings:
            let body = try await JSON.decode(RelayRequest.self, from: call.request)
            return try JSON.response(
                try await service.relay(body, of: try call.meter, in: try call.zone, by: principal))
        case .commandMeter:
            return try await command(call, by: principal)
        case .claimCommand:
            let body = try await JSON.decode(RelayClaimRequest.self, from: call.request)
            try await service.claim(
                body, try call.command, of: try call.meter, in: try call.zone, by: principal)
            return try JSON.response([String: String]())
        case .answerCommand:
            let body = try await JSON.decode(RelayOutcomeRequest.self, from: call.request)
            try await service.answer(body, try call.command, in: try call.zone, by: principal)
            return try JSON.response([String: String]())
        default: return Response(status: .notFound)
        }
    }

    /// Runs a command, which takes seconds. A client that disconnects cancels it.
    private func command(_ call: Call, by principal: Principal) async throws -> Response {
        let (meter, zone) = (try call.meter, try call.zone)
        // The library traps if a response ends before the whole request was read (see `Response.events`).
        var request = call.request
        _ = try await request.collectBody(upTo: JSON.bodyBytesMax)
        let body = try await JSON.decode(RelayCommandRequest.self, from: request)
        return try await request.body.consumeWithCancellationOnInboundClose { [service] rest in
            for try await _ in rest {}
            return try JSON.response(try await service.command(body, of: meter, in: zone, by: principal))
        }
    }

    /// Sends server-sent events, each named after its field of `RelayEventBody`, beginning with the holder. With
    /// `?all=true`, includes every reading, even at a high rate.
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
