package import Gateway
import GatewayAPI
package import Hummingbird

/// Who has which meter: `/v1/leases`.
package struct LeaseRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let keeper: @Sendable () async -> LeaseKeeper?

    /// - Parameter keeper: of the present membership; nil while this host belongs to no cloud.
    package init(directory: MeterDirectory, keeper: @escaping @Sendable () async -> LeaseKeeper?) {
        self.directory = directory
        self.keeper = keeper
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("leases") { _, _ in try JSON.response(await who()) }
    }

    private func who() async -> WhoBody {
        guard let keeper = await keeper() else { return WhoBody(joined: false, leases: []) }
        var leases = await keeper.who()
        var meters: [String: MeterStatus] = [:]
        for meter in await directory.status() { meters[meter.id] = meter }
        for index in leases.indices {
            let meter = meters[leases[index].meter]
            leases[index].name = meter?.name
            leases[index].model = meter?.model
        }
        return WhoBody(joined: true, leases: leases)
    }
}
