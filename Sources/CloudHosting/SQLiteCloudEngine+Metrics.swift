import CloudServer
import CloudStore
import MetricsCore

extension SQLiteCloudEngine {
    /// For `/metrics`.
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
