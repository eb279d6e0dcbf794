package import GatewayAPI
package import Hummingbird

/// Status of the upload to a time series database: `/v1/influx`.
package struct InfluxRoutes: RouteGroup {
    private let status: @Sendable () -> InfluxStatus

    package init(status: @escaping @Sendable () -> InfluxStatus) { self.status = status }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("influx") { _, _ in try JSON.response(status()) }
    }
}
