package import Cloud

extension EtcdCloudEngine {
    /// Returns statistics of the store; `commits` and `writes` count only this replica's work.
    package func statistics() async throws -> CloudStatistics {
        try await finish { [self] in
            var records = EtcdRange(prefix: keys.allRecords)
            records.isCountOnly = true
            let found = try await client.read([
                EtcdRange(prefix: keys.allZones), records, EtcdRange(prefix: keys.allHeads),
            ]).ranges
            let status = try await client.status()
            let counts = leaseDesk.counts
            return CloudStatistics(
                zones: found[0].entries.count, records: Int(clamping: found[1].count), leases: leaseCache.heldCount,
                commits: counts.requests &+ recordDesk.writeCount, writes: counts.decisions &+ recordDesk.writeCount,
                bytes: status.size, usages: try usages(zones: found[0].entries, heads: found[2].entries))
        }
    }

    /// Checks that a majority of the members answers, because writes need it. Also checks for a quota alarm, in spite
    /// of which reads succeed.
    package func probe(writes: Bool) async throws(CloudFailure) {
        try await finish { [self] in
            _ = try await client.read([EtcdRange(key: keys.epoch)])
            guard !(try await client.status()).hasNoSpace else {
                throw EtcdError(
                    .noSpace,
                    "etcd is read-only (alarm NOSPACE), and leases expire. \(EtcdError.quotaRemedy)")
            }
        }
    }

    private func usages(
        zones: [EtcdEntry], heads: [EtcdEntry]
    ) throws(EtcdError) -> [CloudStatistics.ZoneFigures] {
        var figures: [CloudStatistics.ZoneFigures] = []
        for entry in zones {
            guard let name = StoreKeys.text(of: entry.key, after: keys.allZones),
                let head = heads.first(where: { $0.key == keys.head(name) }), let used = try StoredHead(head).used
            else { continue }
            let quota = try StoredTerms(entry).quota?.quota ?? .standard
            figures.append(CloudStatistics.ZoneFigures(zone: name, used: used.amount, limit: quota.zone))
        }
        return figures
    }
}
