package import Gateway
package import Hummingbird

/// The report for a maintainer: `/v1/support`. It contains addresses of meters and what crossed their links, so it is
/// for the control socket alone.
package struct SupportRoutes: RouteGroup {
    private let directory: MeterDirectory

    package init(directory: MeterDirectory) { self.directory = directory }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("support") { _, _ in try JSON.response(await directory.support()) }
    }
}
