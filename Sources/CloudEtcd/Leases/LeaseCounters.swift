import Cloud
import Domain

/// How many leases a zone has had, as read, for those that are about to be created.
struct LeaseCounters: Sendable {
    let zone: String
    private let quota: ZoneQuota
    private var usage: LeaseUsage
    /// Revisions of the counters' keys; nil for the whole zone.
    private let revisions: [HostID?: Int64]
    private var raised: Set<HostID?> = []

    /// The keys of a zone, its counter, and those of hosts.
    static func ranges(of zone: String, _ hosts: [HostID], _ keys: StoreKeys) -> [EtcdRange] {
        [EtcdRange(key: keys.zone(zone)), EtcdRange(key: keys.leaseCount(zone))]
            + hosts.map { EtcdRange(key: keys.leaseCount(zone, of: $0)) }
    }

    /// - Parameters:
    ///   - found: the entries of `ranges`, if they exist.
    ///   - uncounted: number of leases in a zone that has no counter yet.
    /// - Throws: `damaged`.
    init(
        _ zone: String, _ hosts: [HostID], _ found: [EtcdEntry?], uncounted: Int, _ keys: StoreKeys
    ) throws(EtcdError) {
        guard let terms = found[0] else { throw EtcdError(damaged: keys.zone(zone), "it is gone again") }
        self.zone = zone
        quota = try StoredTerms(terms).quota?.quota ?? .standard
        var (counts, revisions): ([HostID: Int], [HostID?: Int64]) = ([:], [nil: found[1]?.revision ?? 0])
        for (host, entry) in zip(hosts, found.dropFirst(2)) {
            counts[host] = try Self.count(entry)
            revisions[host] = entry?.revision ?? 0
        }
        self.revisions = revisions
        usage = LeaseUsage(total: try Self.count(found[1]) ?? uncounted, hosts: counts)
    }

    static func count(_ entry: EtcdEntry?) throws(EtcdError) -> Int? {
        guard let entry else { return nil }
        guard let count = String(validating: entry.value, as: UTF8.self).flatMap({ Int($0) }) else {
            throw EtcdError(damaged: entry.key, "it is not a number")
        }
        return count
    }

    /// Counts a lease that is about to be created.
    ///
    /// - Returns: the refusal beyond a limit.
    mutating func add(_ meter: String, for host: HostID?) -> CloudFailure? {
        if let refusal = usage.refusal(of: host, creating: meter, in: zone, under: quota) { return refusal }
        usage.add(by: host)
        raised.formUnion([nil, host])
        return nil
    }

    /// The changes of the counters, on condition that they are as they were read.
    func transaction(_ keys: StoreKeys) -> EtcdTransaction {
        var transaction = EtcdTransaction()
        for host in raised {
            let key = host.map { keys.leaseCount(zone, of: $0) } ?? keys.leaseCount(zone)
            let count = host.map { usage.hosts[$0] ?? 0 } ?? usage.total
            transaction.compares.append(EtcdCompare(key: key, revision: revisions[host] ?? 0))
            transaction.success.append(.put(key: key, value: Array("\(count)".utf8)))
        }
        return transaction
    }
}

extension EtcdClient {
    /// Number of the zone's leases that exist.
    func countLeases(in zone: String, _ keys: StoreKeys) async throws(EtcdError) -> Int {
        var all = EtcdRange(prefix: keys.leases(in: zone))
        all.isCountOnly = true
        return Int(clamping: try await read([all]).ranges[0].count)
    }
}
