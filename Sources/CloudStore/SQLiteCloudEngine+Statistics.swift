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
    /// What the file takes on the disk, without its log.
    package var bytes: Int64
}

extension SQLiteCloudEngine {
    /// Returns once the one that writes was free to: the store is not stuck. Nothing is written.
    package func turn() async throws(CloudFailure) {
        try await writer.write { _ in }
    }

    package func statistics() async throws(CloudFailure) -> CloudStatistics {
        let (records, bytes) = try await read { db in
            let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let pageBytes = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            return (try Int.fetchOne(db, sql: "SELECT count(*) FROM record") ?? 0, pages * pageBytes)
        }
        let zones = zoneTable.zones
        let counts = writer.counts
        return CloudStatistics(
            zones: zones.count, records: records, leases: leaseTable.heldCount, commits: counts.commits,
            writes: counts.commands, bytes: bytes)
    }
}
