import Gateway
import GatewayAPI
import Hummingbird
import MeterModel

/// Routes whose answer goes on until the client leaves: one JSON object a line.
extension MeterRoutes {
    func addStreams(to meter: RouterGroup<BasicRequestContext>) {
        meter.get("readings") { request, context in
            let session = try await directory.session(try Self.reference(in: context))
            return Response.lines(of: session.readings.subscribe(), for: request) { item in
                ReadingLine(
                    time: item.value.wallTime.description, values: ReadingBody(item.value.reading),
                    missed: item.missed > 0 ? item.missed : nil)
            }
        }
        meter.get("traffic") { request, context in
            let session = try await directory.session(try Self.reference(in: context))
            let began = session.now
            return Response.lines(of: session.traffic.subscribe(buffer: 4096), for: request) { item in
                TrafficLine(
                    t: Double((item.value.time - began).nanoseconds / 1000) / 1e6,
                    dir: item.value.direction.rawValue, hex: Hex.encode(item.value.bytes),
                    missed: item.missed > 0 ? item.missed : nil)
            }
        }
    }

}

extension Response {
    /// One JSON object a line for each item, until the feed ends or the client leaves.
    static func lines<Value: Sendable>(
        of items: Feed<Value>.Subscription, for request: Request,
        line: @escaping @Sendable (Feed<Value>.Item) -> any Encodable
    ) -> Response {
        lines(for: request) { write in
            for await item in items { try await write(line(item)) }
        }
    }

    /// One JSON object a line, as `body` writes them. When the client leaves, its task is cancelled.
    ///
    /// The first bytes go out at once, so that a client knows that it is heard before anything happens.
    static func lines(
        for request: Request,
        _ body: @escaping @Sendable (_ write: (any Encodable) async throws -> Void) async throws -> Void
    ) -> Response {
        let lines = ResponseBody { writer in
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                try await writer.write(ByteBuffer())
                try await body { try await writer.write(try JSON.line($0)) }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: lines)
    }
}
