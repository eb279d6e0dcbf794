import Cloud
import Domain

struct LeaseCounters: Sendable {
    let zone: String
    private let quota: ZoneQuota
    private var usage: LeaseUsage
    /// Revisions of the counters' keys, by host. The key nil stands for the whole zone.
    private let revisions: [HostID?: Int64]
    private var raised: Set<HostID?> = []
    /// Unreadable counters. Leases that do not depend on them are still decided.
    private var damaged: [HostID?: EtcdError] = [:]

    static func ranges(of zone: String, _ hosts: [HostID], _ keys: StoreKeys) -> [EtcdRange] {
        [EtcdRange(key: keys.zone(zone)), EtcdRange(key: keys.leaseCount(zone))]
            + hosts.map { EtcdRange(key: keys.leaseCount(zone, of: $0)) }
    }

    /// - Parameters:
    ///   - found: entries of `ranges` in the same order; nil for a missing key.
    ///   - uncounted: number of leases to assume if the zone has no counter.
    init(_ zone: String, _ hosts: [HostID], _ found: [EtcdEntry?], uncounted: Int, _ keys: StoreKeys) {
        self.zone = zone
        var (quota, total, counts) = (ZoneQuota.standard, uncounted, [HostID: Int]())
        var revisions: [HostID?: Int64] = [nil: found[1]?.revision ?? 0]
        do throws(EtcdError) {
            guard let terms = found[0] else { throw EtcdError(damaged: keys.zone(zone), "it is deleted again") }
            quota = try StoredTerms(terms).quota?.quota ?? .standard
            total = try Self.count(found[1]) ?? uncounted
        } catch {
            damaged[nil] = error
        }
        for (host, entry) in zip(hosts, found.dropFirst(2)) {
            do throws(EtcdError) { counts[host] = try Self.count(entry) } catch { damaged[host] = error }
            revisions[host] = entry?.revision ?? 0
        }
        self.quota = quota
        self.revisions = revisions
        usage = LeaseUsage(total: total, hosts: counts)
    }

    static func count(_ entry: EtcdEntry?) throws(EtcdError) -> Int? {
        guard let entry else { return nil }
        guard let count = String(validating: entry.value, as: UTF8.self).flatMap({ Int($0) }) else {
            throw EtcdError(damaged: entry.key, "it is not a number")
        }
        return count
    }

    /// Counts a lease to be created. Returns the refusal for an exceeded quota or a damaged counter; nil otherwise.
    mutating func add(_ meter: String, for host: HostID?) -> ((LeaseJob) -> Void)? {
        if let error = damaged[nil] ?? damaged[host] { return { $0.fail(error) } }
        if let refusal = usage.refusal(of: host, creating: meter, in: zone, under: quota) {
            return { $0.refuse(refusal) }
        }
        usage.add(by: host)
        raised.formUnion([nil, host])
        return nil
    }

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
    func countLeases(in zone: String, _ keys: StoreKeys) async throws(EtcdError) -> Int {
        var all = EtcdRange(prefix: keys.leases(in: zone))
        all.isCountOnly = true
        return Int(clamping: try await read([all]).ranges[0].count)
    }
}
