package struct QuotaAmount: Hashable, Sendable {
    package static let zero = QuotaAmount(bytes: 0, records: 0)

    package var bytes: Int
    package var records: Int

    package init(bytes: Int, records: Int) {
        self.bytes = bytes
        self.records = records
    }

    package static func + (lhs: Self, rhs: Self) -> Self {
        // The summands come from a store: an overflow must not trap.
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

/// Limits of a zone, and of each host in it (Docs/Decisions/0017-quotas.md).
package struct ZoneQuota: Hashable, Sendable {
    /// One host may use a quarter of each limit.
    package static let standard = ZoneQuota(zone: QuotaAmount(bytes: 100 << 20, records: 200_000))
    /// Bounds of the standard limit on leases, which is half the record limit. The standard 200,000 records are enough
    /// for 10,000 meters of about twenty records each, and so allow ten leases per meter.
    ///
    /// Measured: 100,000 leases take 60 MB (at worst 280 MB) of etcd's default 2 GB and 110 MB of memory in each
    /// replica, or 14 MB on disk with SQLite.
    private static let (leasesLeast, leasesMost) = (10_000, 100_000)
    package static let unlimited = ZoneQuota(
        zone: QuotaAmount(bytes: limitMax, records: limitMax), host: QuotaAmount(bytes: limitMax, records: limitMax),
        leases: limitMax)
    /// Maximum limit, small enough that sums of a few limits do not overflow.
    package static let limitMax = 1 << 53

    package var zone: QuotaAmount
    package var host: QuotaAmount
    /// Number of leases that the zone may ever have; nil for the standard limit.
    package var leases: Int?

    package var leaseLimit: Int { leases ?? min(max(zone.records / 2, Self.leasesLeast), Self.leasesMost) }
    var hostLeaseLimit: Int { max(1, leaseLimit / 4) }

    package init(zone: QuotaAmount, host: QuotaAmount? = nil, leases: Int? = nil) {
        self.leases = leases
        self.zone = zone
        self.host = host ?? QuotaAmount(bytes: zone.bytes / 4, records: zone.records / 4)
    }
}

package struct QuotaExcess: Hashable, Sendable {
    package enum Resource: Hashable, Sendable { case bytes, records }

    package var resource: Resource
    package var limit: Int
    package var used: Int
    package var needed: Int
    package var isHostsShare: Bool

    package init(resource: Resource, limit: Int, used: Int, needed: Int, isHostsShare: Bool) {
        self.resource = resource
        self.limit = limit
        self.used = used
        self.needed = needed
        self.isHostsShare = isHostsShare
    }
}
