package import Gateway
package import Hummingbird

/// All routes of meterd (Docs/meterd-openapi.yaml), except `/v1/session` of the web page (`WebResponder`).
package struct GatewayRoutes: Sendable {
    private let meters: MeterRoutes
    private let metrics: MetricsRoute
    private let topics: [any RouteGroup]
    private let support: SupportRoutes
    private let imports: ImportRoutes
    private let joining: any CloudJoining

    package init(
        meters: MeterRoutes, metrics: MetricsRoute, live: LiveRoutes, broker: BrokerRoutes, influx: InfluxRoutes,
        leases: LeaseRoutes, sync: SyncRoutes, parked: ParkedRoutes, history: HistoryRoutes, series: SeriesRoutes,
        recordings: RecordingRoutes, stretches: StretchRoutes, alerts: AlertRoutes, log: MeterLogRoutes, pd: PDRoutes,
        marks: MarkRoutes, support: SupportRoutes, imports: ImportRoutes, joining: any CloudJoining
    ) {
        self.meters = meters
        self.support = support
        self.metrics = metrics
        topics = [
            live, broker, influx, leases, sync, parked, history, series, recordings, stretches, marks, alerts, log, pd,
        ]
        self.imports = imports
        self.joining = joining
    }

    /// - Parameter page: nil if `[web] serve = false`.
    package func controlRouter(page: WebPage?) -> Router<BasicRequestContext> {
        let own: [any RouteGroup] = [
            MembershipRoutes(joining: joining), WebRoutes(page: page), support, imports,
        ]
        return meters.router(with: topics + own, metrics: metrics)
    }

    /// Returns a router without routes that join or leave a cloud, or open the page to the network.
    package func pageRouter() -> Router<BasicRequestContext> {
        meters.router(with: topics + [MembershipRoutes(joining: joining, isReadOnly: true)], metrics: metrics)
    }
}
