import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Readings over time, for charts: `/v1/meters/{meter}/series`.
package struct SeriesRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let series: SeriesService

    package init(directory: MeterDirectory, series: SeriesService) {
        self.directory = directory
        self.series = series
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("meters/:meter/series") { request, context in
            let meter = try await directory.meter(try MeterRoutes.reference(in: context))
            return try JSON.response(
                try await series.body(for: request, of: meter, in: try request.span(until: series.now)))
        }
    }
}

extension SeriesService {
    private static let pointsUsual = 1000
    private static let quantitiesUsual: [Quantity] = [.voltage, .current, .power]

    func body(for request: Request, of meter: MeterID, in span: Range<WallTime>) async throws -> SeriesBody {
        let points = try request.number("points", in: 1...SeriesBuilder.pointsMax) ?? Self.pointsUsual
        let quantities = try request.quantities() ?? Self.quantitiesUsual
        return SeriesBody(
            try await series(of: meter, in: span, points: points, quantities: quantities), of: meter)
    }
}

extension SeriesBody {
    fileprivate init(_ series: Series, of meter: MeterID) {
        let origin = series.origin.millisecondsSince1970
        self.init(
            meter: meter.description, start: series.origin.description, width_ms: series.width.milliseconds,
            tier: series.tier?.name ?? "raw", gap_ms: series.gap.milliseconds,
            t_ms: series.times.map { $0.millisecondsSince1970 - origin }, series: [:])
        for column in series.columns {
            self.series[column.quantity.key] = Column(
                min: column.minima, max: column.maxima, mean: column.means.map { $0.map(Self.short) })
        }
    }
}

extension SeriesBody {
    /// Rounds to the precision of meters, because additional digits made up most of a chart's bytes.
    fileprivate static func short(_ mean: Double) -> Double {
        let scaled = mean * 1e6
        return scaled.magnitude < 1e15 ? scaled.rounded() / 1e6 : mean
    }
}

extension Request {
    fileprivate func quantities() throws -> [Quantity]? {
        guard let text = uri.queryParameters["quantities"] else { return nil }
        var asked: [Quantity] = []
        for key in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let quantity = Quantity.allCases.first(where: { $0.key == key }) else {
                throw GatewayError(
                    .badRequest, "no quantity is called \"\(key)\"",
                    next: "there are \(Quantity.allCases.map(\.key).joined(separator: ", "))")
            }
            if !asked.contains(quantity) { asked.append(quantity) }
        }
        return asked
    }
}
