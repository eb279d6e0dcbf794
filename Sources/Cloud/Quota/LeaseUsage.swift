import CloudAPI
package import Domain

/// Number of leases that a zone ever had, and that each host created (Docs/Decisions/0017-quotas.md).
///
/// The number only grows: leases are never deleted, so that their fencing tokens always increase. Leases from before
/// these counts existed count only for the zone, because their creators are unknown.
package struct LeaseUsage: Hashable, Sendable {
    package private(set) var total: Int
    package private(set) var hosts: [HostID: Int]

    /// Clamps the values, which come from a store.
    package init(total: Int = 0, hosts: [HostID: Int] = [:]) {
        self.total = Self.inRange(total)
        self.hosts = hosts.mapValues(Self.inRange)
    }

    private static func inRange(_ count: Int) -> Int { min(max(count, 0), ZoneQuota.limitMax) }

    package mutating func add(by host: HostID?) {
        total += 1
        if let host { hosts[host, default: 0] += 1 }
    }

    /// Returns the refusal if a host may not create the lease. Existing leases are never refused.
    ///
    /// It has the form of a refused lease, which every host accepts as an answer. Without an answer, a host would
    /// continue without a lease.
    package func refusal(
        of host: HostID?, creating meter: String, in zone: String, under quota: ZoneQuota
    ) -> CloudFailure? {
        let own = host.flatMap { hosts[$0] } ?? 0
        let words: String
        if total >= quota.leaseLimit {
            words = "the zone \(zone) has \(total) leases, of at most \(quota.leaseLimit)"
        } else if own >= quota.hostLeaseLimit {
            words = "this host made \(own) of the leases of the zone \(zone), of at most \(quota.hostLeaseLimit)"
        } else {
            return nil
        }
        var failure = CloudFailure(
            .leaseHeld,
            "\(words), so no lease is left for \(meter), which never had one; metercloud zone set \(zone) "
                + "--max-leases N raises the limit",
            retryAfter: .seconds(60))
        failure.reason = "exhausted"
        return failure
    }
}
