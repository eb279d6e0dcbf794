package import Domain
package import Gateway
import GatewayAPI
package import Hummingbird
import NIOCore
import Synchronization

/// Imports a file as a recording: `POST /v1/meters/{meter}/imports`. Only on the control socket, because the page's
/// listener refuses such large bodies.
package struct ImportRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let imports: ImportService
    private let zones: ImportZones
    private let loop: any SessionLoop

    /// - Parameters:
    ///   - zoneOffset: returns this machine's offset from UTC at a moment.
    ///   - zoneFile: returns a time zone's file in the system's database.
    package init(
        directory: MeterDirectory, imports: ImportService, loop: any SessionLoop,
        zoneOffset: @escaping @Sendable (WallTime) -> Duration, zoneFile: @escaping @Sendable (String) -> [UInt8]?
    ) {
        self.directory = directory
        self.imports = imports
        zones = ImportZones(local: zoneOffset, file: zoneFile)
        self.loop = loop
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.post("meters/:meter/imports") { request, context in
            let length = try length(of: request)
            let order = try await order(try MeterRoutes.reference(in: context), as: request)
            let outcome = try await take(request, length: length, as: order)
            return try JSON.response(
                ImportBody(
                    recording: RecordingBody(outcome.entry), format: outcome.format.rawValue, lines: outcome.lines,
                    columns_left_out: outcome.columnsLeftOut, lines_left_out: outcome.linesLeftOut,
                    filtered_samples: outcome.filteredSamples, remarks: outcome.remarks))
        }
    }

    /// Requires `Content-Length`, because a chunked body that ends early looks complete.
    private func length(of request: Request) throws(GatewayError) -> Int64 {
        guard let length = request.headers[.contentLength].flatMap({ Int64($0) }), length > 0 else {
            throw GatewayError(
                .badRequest, "an import needs a body and its Content-Length",
                next: "send the file at once; meterctl import does")
        }
        guard length <= imports.limits.bytesMax else {
            throw GatewayError(
                .refused, "the file has \(length >> 20) MB, and \(imports.limits.bytesMax >> 20) MB are taken at most",
                next: "divide it, and import each part")
        }
        return length
    }

    private func order(_ reference: String, as request: Request) async throws -> ImportOrder {
        let query = request.uri.queryParameters
        var options = ImportOptions(meter: query["of"].map(String.init))
        if let name = query["as"].map(String.init) {
            guard let format = ImportFormat(rawValue: name) else {
                let names = ImportFormat.allCases.map(\.rawValue)
                throw GatewayError(
                    .badRequest, "no kind of file is called \"\(name.visible)\"",
                    next: names.suggestion(for: name, "there are \(names.joined(separator: ", "))"))
            }
            options.format = format
        }
        do throws(ImportError) {
            if let zone = query["time_zone"].map(String.init) { options.zoneOffset = try zones.offset(of: zone) }
            for column in query.getAll("column") { try options.add(column: String(column)) }
        } catch {
            throw GatewayError(.badRequest, error.message, next: error.remedy)
        }
        options.start = try request.time("start")?.millisecondsSince1970
        let meter = try await directory.anyMeter(reference)
        options.ranges = await directory.ranges(of: meter)
        var order = ImportOrder(meter: meter, name: query["name"].map(String.init), options: options)
        order.filterReach = await directory.filterReach(of: meter)
        return order
    }

    private func take(_ request: Request, length: Int64, as order: ImportOrder) async throws -> ImportOutcome {
        let upload = Upload(body: request.body, length: length, loop: loop)
        defer { upload.end() }
        return try await withThrowingTaskGroup(of: ImportOutcome.self) { [imports] group in
            group.addTask { try await upload.waitForSilence() }
            group.addTask { try await upload.take(imports, order) }
            defer { group.cancelAll() }
            guard let outcome = try await group.next() else { throw CancellationError() }
            return outcome
        }
    }
}

private final class Upload: Sendable {
    /// Timeout for a client that sends nothing.
    private static let patience = Duration.seconds(60)

    private let body: RequestBody
    private let length: Int64
    private let loop: any SessionLoop
    private let heard: Mutex<MonotonicTime>
    private let timer = Mutex<LoopTimer?>(nil)
    private let silence: AsyncStream<Void>
    private let isSilent: AsyncStream<Void>.Continuation

    init(body: RequestBody, length: Int64, loop: any SessionLoop) {
        self.body = body
        self.length = length
        self.loop = loop
        heard = Mutex(loop.now)
        (silence, isSilent) = AsyncStream.makeStream()
        arm(at: loop.now + Self.patience)
    }

    private func arm(at time: MonotonicTime) {
        let next = loop.schedule(at: time) { [weak self] in self?.look() }
        timer.withLock { $0 = next }
    }

    private func look() {
        let end = heard.withLock { $0 } + Self.patience
        if loop.now < end { arm(at: end) } else { isSilent.yield() }
    }

    func end() {
        if let timer = timer.withLock({ $0 }) { loop.cancel(timer) }
    }

    func waitForSilence() async throws -> Never {
        for await _ in silence {
            throw GatewayError(
                .timedOut, "no data of the file came for \(Self.patience.shortText), and nothing was imported",
                next: "send it again")
        }
        throw CancellationError()
    }

    func take(_ imports: ImportService, _ order: ImportOrder) async throws -> ImportOutcome {
        var (rest, received) = (body.makeAsyncIterator(), Int64(0))
        return try await imports.take(order) {
            if let buffer = try await rest.next() {
                self.heard.withLock { $0 = self.loop.now }
                received += Int64(buffer.readableBytes)
                return Array(buffer.readableBytesView)
            }
            try Task.checkCancellation()
            guard received == self.length else {
                throw GatewayError(
                    .badRequest, "the file ended after \(received) of \(self.length) bytes", next: "send it again")
            }
            return nil
        }
    }
}
