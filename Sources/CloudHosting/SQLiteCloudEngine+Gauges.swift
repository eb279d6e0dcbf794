import CloudServer
import CloudStore

extension SQLiteCloudEngine {
    /// For `/metrics`.
    func gauges() async throws -> [MetricsRegistry.Gauge] {
        let figures = try await statistics()
        return [
            MetricsRegistry.Gauge("metercloud_zones", help: "Zones.", value: Double(figures.zones)),
            MetricsRegistry.Gauge(
                "metercloud_records", help: "Records of all zones, deleted ones too.", value: Double(figures.records)),
            MetricsRegistry.Gauge(
                "metercloud_leases", help: "Leases that somebody holds.", value: Double(figures.leases)),
            MetricsRegistry.Gauge(
                "metercloud_commits_total", help: "Transactions of the store.", value: Double(figures.commits),
                isCounter: true),
            MetricsRegistry.Gauge(
                "metercloud_writes_total", help: "Writes in those transactions, which many share.",
                value: Double(figures.writes), isCounter: true),
        ]
    }
}
