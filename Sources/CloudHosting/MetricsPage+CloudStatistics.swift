import Cloud
import CloudServer
import MetricsCore

extension MetricsPage {
    mutating func add(_ figures: CloudStatistics) {
        add(CloudMetrics.zones, count: figures.zones)
        add(CloudMetrics.records, count: figures.records)
        add(CloudMetrics.leases, count: figures.leases)
        add(CloudMetrics.commits, count: figures.commits)
        add(CloudMetrics.writes, count: figures.writes)
        add(CloudMetrics.storeBytes, count: figures.bytes)
    }
}
