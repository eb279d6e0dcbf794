package import GatewayAPI
package import Hummingbird

/// How it goes with the broker: `/v1/broker`.
package struct BrokerRoutes: RouteGroup {
    private let status: @Sendable () async -> BrokerStatus

    /// - Parameter status: as it is just now, also where no broker is configured.
    package init(status: @escaping @Sendable () async -> BrokerStatus) { self.status = status }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("broker") { _, _ in try JSON.response(await status()) }
    }
}
