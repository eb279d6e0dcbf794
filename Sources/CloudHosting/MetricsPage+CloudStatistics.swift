import Cloud
import CloudServer
import Domain
import ServerKit

extension MetricsPage {
    mutating func add(_ backup: BackupReport) {
        add(CloudMetrics.backupAge, [], backup.age.map { Double($0.milliseconds) / 1000 })
        add(CloudMetrics.backupFailing, [], backup.error == nil ? 0 : 1)
    }

    mutating func add(_ figures: CloudStatistics) {
        add(CloudMetrics.zones, count: figures.zones)
        add(CloudMetrics.records, count: figures.records)
        add(CloudMetrics.leases, count: figures.leases)
        add(CloudMetrics.commits, count: figures.commits)
        add(CloudMetrics.writes, count: figures.writes)
        add(CloudMetrics.storeBytes, count: figures.bytes)
        for figures in figures.usages {
            add(CloudMetrics.zoneBytes, [figures.zone], count: figures.used.bytes)
            add(CloudMetrics.zoneBytesMax, [figures.zone], count: figures.limit.bytes)
            add(CloudMetrics.zoneRecords, [figures.zone], count: figures.used.records)
            add(CloudMetrics.zoneRecordsMax, [figures.zone], count: figures.limit.records)
        }
    }
}
