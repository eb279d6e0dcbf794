package import Gateway
import GatewayAPI
package import Hummingbird
import MeterModel
import NIOCore
import RecordingCore

/// Any stretch of stored readings, whether or not somebody recorded it: what it comes to, a recording of it afterwards,
/// and all of it as a file.
package struct StretchRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let series: SeriesService
    private let recordings: RecordingService

    /// Most meters side by side in one export.
    private static let metersMax = 32
    /// Bytes after which some of an export is sent.
    private static let chunkBytes = 64 * 1024

    package init(directory: MeterDirectory, series: SeriesService, recordings: RecordingService) {
        self.directory = directory
        self.series = series
        self.recordings = recordings
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("meters/:meter/stretch") { request, context in
            let meter = try await directory.meter(try MeterRoutes.reference(in: context))
            let summary = try await series.summary(
                of: meter, in: try request.span(until: series.now), host: recordings.host)
            var body = StretchBody(summary, of: meter)
            body.cost = CostBody(of: body.energy_Wh, at: try await recordings.tariff(of: meter))
            return try JSON.response(body)
        }
        api.post("meters/:meter/recordings") { request, context in
            let reference = try MeterRoutes.reference(in: context)
            return try JSON.response(try await record(reference, as: request))
        }
        api.get("meters/:meter/export") { request, context in
            try await export(request, of: [try MeterRoutes.reference(in: context)])
        }
        api.get("export") { request, _ in
            let meters = request.uri.queryParameters.getAll("meter")
            guard (1...Self.metersMax).contains(meters.count), Set(meters).count == meters.count else {
                throw GatewayError(
                    .badRequest, "an export is of 1 to \(Self.metersMax) different meters, not of \(meters.count)",
                    next: "name each once: meter=ID")
            }
            return try await export(request, of: meters)
        }
    }

    private func record(_ reference: String, as request: Request) async throws -> RecordingBody {
        let body = try await JSON.decode(StretchRecordingRequest.self, from: request)
        let meter = try await directory.meter(reference)
        guard let start = WallTime(body.from), let end = WallTime(body.to) else {
            throw GatewayError(
                .badRequest, "\"\(body.from.visible)\" to \"\(body.to.visible)\" is not a stretch of time",
                next: "both are times such as 2026-11-21T13:40:05Z")
        }
        let span = try Range.stretch(from: start, to: end)
        return RecordingBody(try await recordings.record(span, of: meter, name: body.name, from: series))
    }

    // MARK: Export

    /// - Parameter names: of the meters, as their columns are called where they are several.
    private func export(_ request: Request, of names: [String]) async throws -> Response {
        let span = try request.span(until: series.now)
        let every = try request.number("every", in: 100...86_400_000).map { Int64($0) }
        let wanted = request.uri.queryParameters["format"].map(String.init) ?? ExportTable.Format.csv.rawValue
        guard let format = ExportTable.Format(rawValue: wanted) else {
            throw GatewayError(.badRequest, "format cannot be \"\(wanted)\"", next: "it takes csv or json")
        }
        guard names.count == 1 || every != nil else {
            throw GatewayError(
                .badRequest, "several meters have no common times", next: "give every, in milliseconds")
        }
        var meters: [MeterID] = []
        var columns: [ExportTable.Column] = []
        for name in names {
            let meter = try await directory.meter(name)
            // One point is enough to tell which quantities there are.
            let found = try await series.series(of: meter, in: span, points: 1, quantities: Quantity.allCases)
            meters.append(meter)
            columns.append(
                try .init(meter: names.count == 1 ? nil : name, quantities: found.columns.map(\.quantity)))
        }
        let table = ExportTable(format: format, columns: columns)
        var response = try await Response.text(for: request, type: format == .csv ? "text/csv" : "application/x-ndjson")
        {
            [series, meters] write in
            var writing = Writing(table: table, series: series)
            try await writing.run(meters, span, every: every, write)
        }
        response.headers[.contentDisposition] = "attachment; filename=\"\(Self.fileName(names, span, format))\""
        return response
    }

    /// With nothing in it that a file system or a header might take amiss.
    private static func fileName(_ names: [String], _ span: Range<WallTime>, _ format: ExportTable.Format) -> String {
        let who = names.joined(separator: "-").map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let when = span.lowerBound.description.prefix(16).replacing(":", with: "")
        return "\(String(who.prefix(60)))-\(when).\(format.rawValue)"
    }

    /// One export on its way to a client.
    private struct Writing {
        var table: ExportTable
        let series: SeriesService
        var buffer = ByteBuffer()

        init(table: ExportTable, series: SeriesService) {
            self.table = table
            self.series = series
        }

        typealias Write = (ByteBuffer) async throws -> Void

        mutating func run(
            _ meters: [MeterID], _ span: Range<WallTime>, every: Int64?, _ write: Write
        ) async throws {
            buffer.writeString(table.header)
            if let every {
                try await appendWindows(of: meters, in: span, every: every, write)
            } else {
                try await appendAll(of: meters[0], in: span, write)
            }
            try await send(write)
        }

        private mutating func appendAll(of meter: MeterID, in span: Range<WallTime>, _ write: Write) async throws {
            try await series.pages(of: meter, in: span) { page in
                for piece in page {
                    table.append(piece.time, [piece.reading], to: &buffer)
                    if buffer.readableBytes >= StretchRoutes.chunkBytes { try await send(write) }
                }
            }
        }

        /// Some minutes of all meters at a time, in whole windows.
        private mutating func appendWindows(
            of meters: [MeterID], in span: Range<WallTime>, every: Int64, _ write: Write
        ) async throws {
            let slab = every * max(1, SampleTier.second.blockLength / every)
            var start = span.lowerBound
            while let next = try await first(of: meters, in: start..<span.upperBound) {
                start = max(start, next.floored(to: slab))
                let end = min(start.floored(to: slab) + .milliseconds(slab), span.upperBound)
                var all: [ExportWindows] = []
                for meter in meters {
                    var windows = ExportWindows(length: every)
                    try await series.pages(of: meter, in: start..<end) { page in
                        for piece in page { windows.add(piece) }
                    }
                    all.append(windows)
                }
                for time in Set(all.flatMap { Array($0.times) }).sorted() {
                    table.append(time, all.map { $0.reading(at: time) }, to: &buffer)
                    if buffer.readableBytes >= StretchRoutes.chunkBytes { try await send(write) }
                }
                guard end < span.upperBound else { return }
                start = end
            }
        }

        private func first(of meters: [MeterID], in span: Range<WallTime>) async throws -> WallTime? {
            var first: WallTime?
            for meter in meters {
                guard let next = try await series.first(of: meter, in: span) else { continue }
                first = min(first ?? next, next)
            }
            return first
        }

        private mutating func send(_ write: Write) async throws {
            guard buffer.readableBytes > 0 else { return }
            try await write(buffer)
            buffer = ByteBuffer()
            buffer.reserveCapacity(StretchRoutes.chunkBytes + 1024)
        }
    }
}

extension StretchBody {
    fileprivate init(_ summary: StretchSummary, of meter: MeterID) {
        var quantities: [String: Spread] = [:]
        for (quantity, spread) in summary.spreads {
            quantities[quantity.key] = Spread(
                min: spread.least, max: spread.greatest, mean: spread.mean, p5: spread.p5, p50: spread.p50,
                p95: spread.p95)
        }
        self.init(
            meter: meter.description, readings: summary.readings, resolution_ms: summary.resolution.milliseconds,
            quantities: quantities)
        guard let recording = summary.recording() else { return }
        let totals = recording.totals
        from = recording.started.description
        to = recording.until.description
        duration_ms = totals.duration.milliseconds
        gap_ms = totals.gapTime.milliseconds
        gap_count = totals.gapCount
        charge_mAh = totals.charge_mAh
        energy_Wh = totals.energy_Wh
        meter_charge_mAh = totals.charge.total
        meter_energy_Wh = totals.energy.total
    }
}
