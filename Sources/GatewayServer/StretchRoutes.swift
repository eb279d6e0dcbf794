import Domain
package import Gateway
import GatewayAPI
package import Hummingbird
import NIOCore

/// Sums or exports any time span of stored readings, or turns it into a recording.
package struct StretchRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let series: SeriesService
    private let recordings: RecordingService
    private let marks: MarkService

    private static let metersMax = 32

    package init(directory: MeterDirectory, series: SeriesService, recordings: RecordingService, marks: MarkService) {
        self.directory = directory
        self.series = series
        self.recordings = recordings
        self.marks = marks
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

    private func export(_ request: Request, of names: [String]) async throws -> Response {
        let span = try request.span(until: series.now)
        let every = try request.number("every", in: 100...86_400_000).map { Int64($0) }
        let format: ExportTable.Format = try request.choice("format") ?? .csv
        guard names.count == 1 || every != nil else {
            throw GatewayError(
                .badRequest, "several meters have no common times", next: "give every, in milliseconds")
        }
        var meters: [MeterID] = []
        var columns: [ExportTable.Column] = []
        for name in names {
            let meter = try await directory.meter(name)
            meters.append(meter)
            columns.append(
                ExportTable.Column(
                    meter: names.count == 1 ? nil : name, quantities: try await series.quantities(of: meter, in: span),
                    marks: try await marks.marks(of: directory.ids(of: meter), in: span).map(\.mark)))
        }
        let table = ExportTable(format: format, columns: columns, every: .milliseconds(every ?? 0))
        var response = try await Response.text(for: request, type: format == .csv ? "text/csv" : "application/x-ndjson")
        {
            [series, meters] write in
            var writing = ExportWriting(table: table, series: series)
            try await writing.run(meters, span, every: every, write)
        }
        response.headers.saveAs(Self.fileName(names, span, format))
        return response
    }

    private static func fileName(_ names: [String], _ span: Range<WallTime>, _ format: ExportTable.Format) -> String {
        let when = span.lowerBound.description.prefix(16).replacing(":", with: "")
        return "\(names.joined(separator: "-").prefix(60))-\(when).\(format.rawValue)"
    }
}

extension StretchBody {
    fileprivate init(_ summary: StretchSummary, of meter: MeterID) {
        self.init(
            meter: meter.description, readings: summary.readings, resolution_ms: summary.resolution.milliseconds,
            quantities: Dictionary(uniqueKeysWithValues: summary.spreads.map { ($0.key.key, $0.value) }))
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
