import Gateway
import GatewayAPI
import Hummingbird
import MeterModel

/// Routes whose answer goes on until the client leaves: one JSON object a line.
extension MeterRoutes {
    func addStreams(to meter: RouterGroup<BasicRequestContext>) {
        meter.get("readings") { request, context in
            let session = try await directory.session(try reference(in: context))
            return Self.stream(session.readings.subscribe(), for: request) { item in
                ReadingLine(
                    time: item.value.wallTime.description, values: ReadingBody(item.value.reading),
                    missed: item.missed > 0 ? item.missed : nil)
            }
        }
        meter.get("traffic") { request, context in
            let session = try await directory.session(try reference(in: context))
            let began = session.now
            return Self.stream(session.traffic.subscribe(buffer: 4096), for: request) { item in
                TrafficLine(
                    t: Double((item.value.time - began).nanoseconds / 1000) / 1e6,
                    dir: item.value.direction.rawValue, hex: Hex.encode(item.value.bytes),
                    missed: item.missed > 0 ? item.missed : nil)
            }
        }
    }

    /// The first bytes go out at once, so that a client knows that it is heard before anything happens.
    private static func stream<Value: Sendable>(
        _ items: Feed<Value>.Subscription, for request: Request,
        line: @escaping @Sendable (Feed<Value>.Item) -> some Encodable
    ) -> Response {
        let body = ResponseBody { writer in
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                try await writer.write(ByteBuffer())
                for await item in items {
                    try await writer.write(try JSON.line(line(item)))
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: body)
    }
}
