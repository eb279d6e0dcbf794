package import Cloud
import GRDB

extension SQLiteCloudEngine {
    /// Returns once the writer is free, and so not stuck.
    package func turn() async throws(CloudFailure) {
        try await writer.write { _ in }
    }

    package func statistics() async throws(CloudFailure) -> CloudStatistics {
        let (records, bytes) = try await read { db in
            let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let pageBytes = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            return (try Table("record").fetchCount(db), pages * pageBytes)
        }
        let zones = zoneTable.zones
        let counts = writer.counts
        return CloudStatistics(
            zones: zones.count, records: records, leases: leaseTable.heldCount, commits: counts.commits,
            writes: counts.commands, bytes: bytes,
            usages: zones.map {
                CloudStatistics.ZoneFigures(zone: $0.zone.name, used: $0.usage.total, limit: $0.zone.quota.zone)
            })
    }
}
