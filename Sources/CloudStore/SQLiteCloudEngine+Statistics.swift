package import Cloud
import GRDB

/// Figures about a store, for its administrator.
package struct CloudStatistics: Hashable, Sendable {
    package var zones: Int
    /// Of all zones, tombstones too.
    package var records: Int
    /// That somebody holds, be they over or not.
    package var leases: Int
    /// Since the store was opened.
    package var commits: UInt64
    /// The writes in those commits: many at once share one wait for the disk.
    package var writes: UInt64
}

extension SQLiteCloudEngine {
    package func statistics() async throws(CloudFailure) -> CloudStatistics {
        let records = try await read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM record") ?? 0 }
        let zones = zoneTable.zones
        let counts = writer.counts
        return CloudStatistics(
            zones: zones.count, records: records, leases: leaseTable.heldCount, commits: counts.commits,
            writes: counts.commands)
    }
}
