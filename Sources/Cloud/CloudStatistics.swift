package struct CloudStatistics: Hashable, Sendable {
    package var zones: Int
    /// Number of records in all zones, including tombstones.
    package var records: Int
    /// Number of held leases, even if expired; with etcd, as far as this replica has seen.
    package var leases: Int
    /// Number of store transactions since the start, each with a wait for the disk or etcd.
    package var commits: UInt64
    /// Number of writes in all store transactions; concurrent writes share one.
    package var writes: UInt64
    /// Size on disk: the SQLite file without its log, or the database of the answering etcd member.
    package var bytes: Int64
    /// Usage by zone, without zones whose records have not been counted yet.
    package var usages: [ZoneFigures]

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
