package import Cloud

extension EtcdCloudEngine {
    /// Of a store that several copies have in common; what was committed, this one did.
    package func statistics() async throws -> CloudStatistics {
        try await finish { [self] in
            var records = EtcdRange(prefix: keys.allRecords)
            records.isCountOnly = true
            var zones = EtcdRange(prefix: keys.allZones)
            zones.isCountOnly = true
            let found = try await client.read([zones, records]).ranges
            let status = try await client.status()
            let counts = leaseDesk.counts
            return CloudStatistics(
                zones: Int(clamping: found[0].count), records: Int(clamping: found[1].count), leases: sights.heldCount,
                commits: counts.requests &+ recordDesk.writeCount, writes: counts.decisions &+ recordDesk.writeCount,
                bytes: status.dbSize?.value ?? 0)
        }
    }
}
