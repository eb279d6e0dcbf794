/// Bytes and records: an amount, a limit, or a change of either.
package struct QuotaAmount: Hashable, Sendable {
    package static let zero = QuotaAmount(bytes: 0, records: 0)

    package var bytes: Int
    package var records: Int

    package init(bytes: Int, records: Int) {
        self.bytes = bytes
        self.records = records
    }

    package static func + (lhs: Self, rhs: Self) -> Self {
        // Counters come from a store, so no number may trap.
        QuotaAmount(
            bytes: Self.clamped(lhs.bytes.addingReportingOverflow(rhs.bytes), rhs.bytes),
            records: Self.clamped(lhs.records.addingReportingOverflow(rhs.records), rhs.records))
    }

    package static prefix func - (amount: Self) -> Self {
        QuotaAmount(bytes: 0 &- amount.bytes, records: 0 &- amount.records)
    }

    private static func clamped(_ sum: (partialValue: Int, overflow: Bool), _ added: Int) -> Int {
        guard sum.overflow else { return sum.partialValue }
        return added < 0 ? .min : .max
    }
}

/// How much a zone may have, and each host in it (Docs/Decisions/0017-quotas.md).
package struct ZoneQuota: Hashable, Sendable {
    /// 100 MB and 200,000 records, with a quarter of each for one host.
    package static let standard = ZoneQuota(zone: QuotaAmount(bytes: 100 << 20, records: 200_000))
    /// Bounds of the standard limit on leases: one for every second record. A meter in use has some twenty records in the
    /// long run (settings, other ids, summaries of recordings), so 200,000 records are enough for 10,000 meters, and the
    /// limit is ten times that.
    ///
    /// Measured with 50,000 and 100,000 leases: one takes 590 bytes in etcd with its pulse (2.8 kB with the longest id and
    /// names), 2.2 kB in etcd's memory, and 1.1 kB in the memory of each copy of the cloud. So 100,000 take 60 MB (at
    /// worst 280 MB) of the 2 GB that etcd has as it comes, and 110 MB of each copy. On SQLite, at 140 bytes, they take
    /// 14 MB of the disk.
    private static let (leasesLeast, leasesMost) = (10_000, 100_000)
    /// For tests and benchmarks of other things.
    package static let unlimited = ZoneQuota(
        zone: QuotaAmount(bytes: limitMax, records: limitMax), host: QuotaAmount(bytes: limitMax, records: limitMax),
        leases: limitMax)
    /// The greatest limit, small enough that sums of a few do not overflow.
    package static let limitMax = 1 << 53

    package var zone: QuotaAmount
    package var host: QuotaAmount
    /// How many leases the zone may ever have. Nil for the standard limit.
    package var leases: Int?

    /// The limit on leases.
    package var leaseLimit: Int { leases ?? min(max(zone.records / 2, Self.leasesLeast), Self.leasesMost) }
    /// How many of them one host may create: a quarter.
    var hostLeaseLimit: Int { max(1, leaseLimit / 4) }

    /// - Parameter host: defaults to a quarter of what the zone may have.
    package init(zone: QuotaAmount, host: QuotaAmount? = nil, leases: Int? = nil) {
        self.leases = leases
        self.zone = zone
        self.host = host ?? QuotaAmount(bytes: zone.bytes / 4, records: zone.records / 4)
    }
}

/// The limit that a change would exceed.
package struct QuotaExcess: Hashable, Sendable {
    package enum Resource: Hashable, Sendable { case bytes, records }

    package var resource: Resource
    package var limit: Int
    package var used: Int
    /// The amount missing for the change.
    package var needed: Int
    /// Whether it is one host's limit rather than the whole zone's.
    package var isHostsShare: Bool

    package init(resource: Resource, limit: Int, used: Int, needed: Int, isHostsShare: Bool) {
        self.resource = resource
        self.limit = limit
        self.used = used
        self.needed = needed
        self.isHostsShare = isHostsShare
    }
}
