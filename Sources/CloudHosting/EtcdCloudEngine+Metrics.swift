import CloudEtcd
import CloudServer
import MetricsCore

extension EtcdCloudEngine {
    /// For `/metrics`. Of a store that several copies have in common; what was committed, this one did.
    func tell(_ page: inout MetricsPage) async throws {
        let figures = try await statistics()
        page.add(CloudMetrics.zones, count: figures.zones)
        page.add(CloudMetrics.records, count: figures.records)
        page.add(CloudMetrics.leases, count: figures.leases)
        page.add(CloudMetrics.commits, count: figures.commits)
        page.add(CloudMetrics.writes, count: figures.writes)
        page.add(CloudMetrics.storeBytes, count: figures.bytes)
    }
}
