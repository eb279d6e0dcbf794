package import Domain
package import Gateway
package import GatewayAPI
package import Hummingbird

/// `GET /metrics`, for Prometheus (Docs/Metrics.md).
package struct MetricsRoute: Sendable {
    private let routes: MeterRoutes
    private let settings: SettingsService
    private let alerts: AlertService
    private let engine: @Sendable () async -> SyncEngine?
    private let storeBytes: @Sendable () async -> Int64?
    private let broker: @Sendable () async -> BrokerStatus
    private let process: @Sendable () -> ProcessFigures?

    /// - Parameters:
    ///   - engine: nil if this host belongs to no cloud.
    ///   - storeBytes: returns the store's size on the disk; nil if unreadable.
    package init(
        routes: MeterRoutes, settings: SettingsService, alerts: AlertService,
        engine: @escaping @Sendable () async -> SyncEngine?,
        storeBytes: @escaping @Sendable () async -> Int64?, broker: @escaping @Sendable () async -> BrokerStatus,
        process: @escaping @Sendable () -> ProcessFigures?
    ) {
        self.routes = routes
        self.settings = settings
        self.alerts = alerts
        self.engine = engine
        self.storeBytes = storeBytes
        self.broker = broker
        self.process = process
    }

    /// Adds the route outside `/v1`, at Prometheus' default path.
    package func add(to router: some RouterMethods) {
        router.get("metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: MetricsPage.contentType],
                body: ResponseBody(byteBuffer: ByteBuffer(string: await page().text)))
        }
    }

    func page() async -> MetricsPage {
        var page = MetricsPage()
        page.add(routes.version)
        let totals = await routes.directory.writtenTotals()
        for meter in await routes.directory.status() { page.add(meter, MeterID(meter.id).flatMap { totals[$0] }) }
        page.add(AlertsBody(alerts.entries, of: alerts))
        for adapter in await routes.directory.adapters() { page.add(adapter) }
        page.add(await syncStatus())
        page.add(routes.storeStatus(), bytes: await storeBytes())
        page.add(await broker())
        if let process = process() { page.add(process) }
        return page
    }

    private func syncStatus() async -> SyncStatusBody? {
        guard let engine = await engine() else { return nil }
        return await SyncStatusBody(of: engine, settings)
    }
}
