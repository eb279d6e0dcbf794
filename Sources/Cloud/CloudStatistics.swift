/// Figures about a store, for its administrator.
package struct CloudStatistics: Hashable, Sendable {
    package var zones: Int
    /// Of all zones, tombstones too.
    package var records: Int
    /// That somebody holds, be they over or not; over etcd as far as this copy has seen.
    package var leases: Int
    /// Steps that waited for the disk or for etcd, since this program opened the store.
    package var commits: UInt64
    /// The writes in those: many at once share one wait.
    package var writes: UInt64
    /// What the store takes on the disk: a file without its log, or that of the member that was asked.
    package var bytes: Int64

    package init(zones: Int, records: Int, leases: Int, commits: UInt64, writes: UInt64, bytes: Int64) {
        self.zones = zones
        self.records = records
        self.leases = leases
        self.commits = commits
        self.writes = writes
        self.bytes = bytes
    }
}
