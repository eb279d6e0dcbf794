/// Figures about a cloud over etcd, for its administrator.
package struct EtcdStatistics: Hashable, Sendable {
    package var zones: Int
    /// Of all zones, tombstones too.
    package var records: Int
    /// That somebody holds, as far as this copy has seen.
    package var leases: Int
    /// Requests of this copy that decide leases or write records.
    package var commits: UInt64
    /// The decisions and writes in those: many at once share one request.
    package var writes: UInt64
    /// What the member that was asked takes on its disk.
    package var bytes: Int64
}

extension EtcdCloudEngine {
    package func statistics() async throws -> EtcdStatistics {
        try await finish { [self] in
            var records = EtcdRange(prefix: keys.allRecords)
            records.isCountOnly = true
            var zones = EtcdRange(prefix: keys.allZones)
            zones.isCountOnly = true
            let found = try await client.read([zones, records]).ranges
            let status = try await client.status()
            let counts = leaseDesk.counts
            return EtcdStatistics(
                zones: Int(clamping: found[0].count), records: Int(clamping: found[1].count), leases: sights.heldCount,
                commits: counts.requests &+ recordDesk.writeCount, writes: counts.decisions &+ recordDesk.writeCount,
                bytes: status.dbSize?.value ?? 0)
        }
    }
}
