/// Figures about a store, for its administrator.
package struct CloudStatistics: Hashable, Sendable {
    package var zones: Int
    /// Number of records in all zones, including tombstones.
    package var records: Int
    /// Number of leases that somebody holds, even if over; with etcd, as far as this copy has seen.
    package var leases: Int
    /// Number of steps that waited for the disk or for etcd since this program opened the store.
    package var commits: UInt64
    /// Number of writes in those: concurrent ones share one wait.
    package var writes: UInt64
    /// Size of the store on the disk: a file without its log, or that of the etcd member that was asked.
    package var bytes: Int64
    /// By zone, leaving out zones whose records have not been counted yet.
    package var usages: [ZoneFigures]

    /// How much a zone's records use, and how much they may.
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
