import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Leases of all meters: `/v1/leases`.
package struct LeaseRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let settings: SettingsService
    private let keeper: @Sendable () async -> LeaseKeeper?

    /// - Parameter keeper: nil if this host belongs to no cloud.
    package init(
        directory: MeterDirectory, settings: SettingsService, keeper: @escaping @Sendable () async -> LeaseKeeper?
    ) {
        self.directory = directory
        self.settings = settings
        self.keeper = keeper
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("leases") { _, _ in try JSON.response(try await who()) }
    }

    private func who() async throws(GatewayError) -> WhoBody {
        guard let keeper = await keeper() else { return WhoBody(joined: false, leases: []) }
        var leases = await keeper.who()
        var meters: [String: MeterStatus] = [:]
        for meter in await directory.status() { meters[meter.id] = meter }
        var names: [String: String] = [:]
        // Other hosts' meters need a look-up in the settings of all meters, so do it only if another host holds a
        // meter.
        if leases.contains(where: { meters[$0.meter] == nil }) {
            for meter in try await settings.meters() { names[meter.id.description] = meter.name }
        }
        for index in leases.indices {
            let meter = meters[leases[index].meter]
            leases[index].name = meter?.name ?? names[leases[index].meter]
            leases[index].model = meter?.model
        }
        return WhoBody(joined: true, leases: leases)
    }
}
