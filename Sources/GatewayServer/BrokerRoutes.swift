package import GatewayAPI
package import Hummingbird

/// The broker's status: `/v1/broker`.
package struct BrokerRoutes: RouteGroup {
    private let status: @Sendable () async -> BrokerStatus

    /// - Parameter status: returns the broker's status, even if no broker is configured.
    package init(status: @escaping @Sendable () async -> BrokerStatus) { self.status = status }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("broker") { _, _ in try JSON.response(await status()) }
    }
}
