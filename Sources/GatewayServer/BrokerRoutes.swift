package import GatewayAPI
package import Hummingbird

/// Status of the MQTT broker connection: `/v1/broker`.
package struct BrokerRoutes: RouteGroup {
    private let status: @Sendable () async -> BrokerStatus

    package init(status: @escaping @Sendable () async -> BrokerStatus) { self.status = status }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("broker") { _, _ in try JSON.response(await status()) }
    }
}
