import Gateway
import Hummingbird

/// What a maintainer asks for: `/v1/support`. It has addresses of meters and what crossed their links, so it is for the
/// control socket alone.
struct SupportRoutes: RouteGroup {
    let directory: MeterDirectory

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("support") { _, _ in try JSON.response(await directory.support()) }
    }
}
