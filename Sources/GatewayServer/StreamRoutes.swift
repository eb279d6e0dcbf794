import Domain
import Gateway
import GatewayAPI
import Hummingbird

/// Routes that stream one JSON object per line until the client disconnects.
extension MeterRoutes {
    func addStreams(to meter: RouterGroup<BasicRequestContext>) {
        meter.get("readings") { request, context in
            let reference = try Self.reference(in: context)
            let readings = try await zone.readings(of: reference, wantsAll: try request.flag("all"))
            return try await Response.lines(for: request) { [directory] write in
                var glance = TelemetryWatch()
                try await readings.forEach { reading in
                    var line = ReadingLine(reading)
                    if reading.origin == nil, glance.isDue(at: reading.wallTime) {
                        // Another host may have taken over the meter meanwhile.
                        line.told = glance.news(try? await directory.session(reference).told())
                    }
                    try await write(line)
                }
            }
        }
        meter.get("traffic") { request, context in
            let session = try await directory.session(try Self.reference(in: context))
            let began = session.now
            return try await Response.lines(of: session.traffic.subscribe(buffer: 4096), for: request) { item in
                TrafficLine(
                    t: Double((item.value.time - began).nanoseconds / 1000) / 1e6,
                    dir: item.value.direction.rawValue, hex: Hex.encode(item.value.bytes),
                    missed: item.missed > 0 ? item.missed : nil)
            }
        }
    }
}

/// Checks once a second whether a meter's data besides readings has changed.
private struct TelemetryWatch {
    private var next: WallTime?
    private var last: TelemetryBody?

    mutating func isDue(at time: WallTime) -> Bool {
        // If the system clock was set back, do not wait for `next`.
        if let next, time < next, next < time + .seconds(2) { return false }
        next = time + .seconds(1)
        return true
    }

    mutating func news(_ told: TelemetryBody?) -> TelemetryBody? {
        guard told != last else { return nil }
        last = told
        return told
    }
}

extension ReadingLine {
    init(_ reading: WatchedReading) {
        self.init(
            time: reading.wallTime.description, values: ReadingBody(reading.reading),
            missed: reading.missed > 0 ? reading.missed : nil)
        measured_by = reading.origin?.holder
        guard let spread = reading.spread else { return }
        count = spread.count
        least = ReadingBody(spread.least)
        greatest = ReadingBody(spread.greatest)
    }
}

extension Response {
    static func lines<Value: Sendable>(
        of items: Feed<Value>.Subscription, for request: Request,
        line: @escaping @Sendable (Feed<Value>.Item) -> any Encodable
    ) async throws -> Response {
        try await lines(for: request) { write in
            for await item in items { try await write(line(item)) }
        }
    }

    /// Cancels the task of `body` when the client disconnects. Sends the first bytes immediately, so that the client
    /// detects the connection.
    static func lines(
        for request: Request,
        _ body: @escaping @Sendable (_ write: (any Encodable) async throws -> Void) async throws -> Void
    ) async throws -> Response {
        let stream = try await stream(for: request) { write in
            try await body { try await write(try JSON.line($0)) }
        }
        return Response(status: .ok, headers: streamHeaders("application/x-ndjson"), body: stream)
    }

    static func text(
        for request: Request, type: String,
        _ body: @escaping @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void
    ) async throws -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
            body: try await stream(for: request, body))
    }

    static func events(
        for request: Request,
        _ body: @escaping @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void
    ) async throws -> Response {
        Response(
            status: .ok, headers: streamHeaders("text/event-stream"),
            body: try await stream(for: request, body))
    }

    /// Headers for chunks that must arrive without delay, even through a proxy that buffers (nginx).
    private static func streamHeaders(_ type: String) -> HTTPFields {
        var headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        if let name = HTTPFields.Element.Name("X-Accel-Buffering") { headers[name] = "no" }
        return headers
    }

    static func event(_ name: String, _ value: some Encodable) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "event: \(name)\ndata: ")
        buffer.writeImmutableBuffer(try JSON.encode(value))
        buffer.writeString("\n\n")
        return buffer
    }

    private static func stream(
        for request: Request,
        _ body: @escaping @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void
    ) async throws -> ResponseBody {
        // Hummingbird detects a disconnect by continuing to read the request, and traps if a response ends before the
        // whole request was read. So read it to its end first.
        var request = request
        _ = try await request.collectBody(upTo: JSON.bodyBytesMax)
        let whole = request.body
        return ResponseBody { writer in
            try await whole.consumeWithCancellationOnInboundClose { rest in
                for try await _ in rest {}
                try await writer.write(ByteBuffer())
                try await body { try await writer.write($0) }
            }
            try await writer.finish(nil)
        }
    }
}
