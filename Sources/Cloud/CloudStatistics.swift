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
    /// By zone; none of a zone whose records nobody has counted yet.
    package var usages: [ZoneFigures]

    /// What a zone's records count, and how much they may.
    package struct ZoneFigures: Hashable, Sendable {
        package var zone: String
        package var used: QuotaAmount
        package var limit: QuotaAmount

        package init(zone: String, used: QuotaAmount, limit: QuotaAmount) {
            self.zone = zone
            self.used = used
            self.limit = limit
        }
    }

    package init(
        zones: Int, records: Int, leases: Int, commits: UInt64, writes: UInt64, bytes: Int64, usages: [ZoneFigures]
    ) {
        self.usages = usages
        self.zones = zones
        self.records = records
        self.leases = leases
        self.commits = commits
        self.writes = writes
        self.bytes = bytes
    }
}
