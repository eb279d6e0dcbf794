package import Gateway
package import GatewayAPI
package import Hummingbird

/// For the control socket alone: the report for a maintainer, `/v1/support`, which contains addresses of meters and what
/// crossed their links; and `/v1/scan/nodes`, for who can add a node to meterd.toml.
package struct SupportRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let nodes: @Sendable () async -> ScanNodes

    /// - Parameter nodes: looks for ESPHome nodes in this host's network.
    package init(directory: MeterDirectory, nodes: @escaping @Sendable () async -> ScanNodes) {
        (self.directory, self.nodes) = (directory, nodes)
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("support") { _, _ in try JSON.response(await directory.support()) }
        api.get("scan/nodes") { _, _ in try JSON.response(await nodes()) }
    }
}
