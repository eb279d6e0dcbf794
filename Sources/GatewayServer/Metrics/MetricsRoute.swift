package import Gateway
package import GatewayAPI
package import Hummingbird
package import MetricsCore

/// `GET /metrics`, for Prometheus (Docs/Metrics.md).
package struct MetricsRoute: Sendable {
    private let routes: MeterRoutes
    private let settings: SettingsService
    private let engine: @Sendable () async -> SyncEngine?
    private let storeBytes: @Sendable () async -> Int64?
    private let broker: @Sendable () async -> BrokerStatus
    private let process: @Sendable () -> ProcessFigures?

    /// - Parameters:
    ///   - routes: whose meters, adapters and store are told about.
    ///   - engine: of the present membership; nil while this host belongs to no cloud.
    ///   - storeBytes: what the store takes on the disk, nil where that cannot be read.
    ///   - broker: how it goes with the MQTT broker, also where none is configured.
    ///   - process: what the kernel says about this process.
    package init(
        routes: MeterRoutes, settings: SettingsService, engine: @escaping @Sendable () async -> SyncEngine?,
        storeBytes: @escaping @Sendable () async -> Int64?, broker: @escaping @Sendable () async -> BrokerStatus,
        process: @escaping @Sendable () -> ProcessFigures?
    ) {
        self.routes = routes
        self.settings = settings
        self.engine = engine
        self.storeBytes = storeBytes
        self.broker = broker
        self.process = process
    }

    /// On the router itself: Prometheus asks for `/metrics` where nobody tells it otherwise.
    package func add(to router: some RouterMethods) {
        router.get("metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: MetricsPage.contentType],
                body: ResponseBody(byteBuffer: ByteBuffer(string: await page().text)))
        }
    }

    /// As everything is just now.
    func page() async -> MetricsPage {
        var page = MetricsPage()
        page.add(routes.version)
        for meter in await routes.directory.status() { page.add(meter) }
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
