package import Gateway
package import GatewayAPI
package import Hummingbird

/// Routes for the control socket alone. `/v1/support` returns meters' addresses and link traffic, for a maintainer.
/// `/v1/scan/nodes` helps to add a node to meterd.toml.
package struct SupportRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let nodes: @Sendable () async -> ScanNodes

    package init(directory: MeterDirectory, nodes: @escaping @Sendable () async -> ScanNodes) {
        (self.directory, self.nodes) = (directory, nodes)
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("support") { _, _ in try JSON.response(await directory.support()) }
        api.get("scan/nodes") { _, _ in try JSON.response(await nodes()) }
    }
}
