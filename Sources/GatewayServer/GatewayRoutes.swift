package import Gateway
package import Hummingbird

/// All routes of meterd, as its two listeners have them (Docs/meterd-openapi.yaml).
///
/// The web page's listener has the routes of `/v1/session` besides, which are about the connection (`WebResponder`).
package struct GatewayRoutes: Sendable {
    private let meters: MeterRoutes
    private let metrics: MetricsRoute
    private let topics: [any RouteGroup]
    private let joining: any CloudJoining

    package init(
        meters: MeterRoutes, metrics: MetricsRoute, live: LiveRoutes, broker: BrokerRoutes, leases: LeaseRoutes,
        sync: SyncRoutes, parked: ParkedRoutes, history: HistoryRoutes, series: SeriesRoutes,
        recordings: RecordingRoutes, joining: any CloudJoining
    ) {
        self.meters = meters
        self.metrics = metrics
        topics = [live, broker, leases, sync, parked, history, series, recordings]
        self.joining = joining
    }

    /// Those of the control socket, whose users may do everything.
    ///
    /// - Parameter page: nil where `[web] serve = false`.
    package func controlRouter(page: WebPage?) -> Router<BasicRequestContext> {
        let own: [any RouteGroup] = [
            MembershipRoutes(joining: joining), WebRoutes(page: page), SupportRoutes(directory: meters.directory),
        ]
        return meters.router(with: topics + own, metrics: metrics)
    }

    /// Those of the web page: nobody joins or leaves a cloud there, or opens the page.
    package func pageRouter() -> Router<BasicRequestContext> {
        meters.router(with: topics + [MembershipRoutes(joining: joining, isReadOnly: true)], metrics: metrics)
    }
}
