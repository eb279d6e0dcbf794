package import Cloud
import CloudAPI
import Domain

struct StoredAmount: Codable, Hashable, Sendable {
    var bytes: Int
    var records: Int

    init(_ amount: QuotaAmount) { (bytes, records) = (amount.bytes, amount.records) }

    var amount: QuotaAmount { QuotaAmount(bytes: bytes, records: records) }
}

struct StoredQuota: Codable, Hashable, Sendable {
    var zone: StoredAmount
    var host: StoredAmount
    /// Nil for the standard limit.
    var leases: Int?

    init?(_ quota: ZoneQuota) {
        guard quota != .standard else { return nil }
        leases = quota.leases
        (zone, host) = (StoredAmount(quota.zone), StoredAmount(quota.host))
    }

    var quota: ZoneQuota { ZoneQuota(zone: zone.amount, host: host.amount, leases: leases) }
}

/// Usage of the hosts whose ids begin with the same digit: small enough to be written with each change. All keys fit
/// into one transaction.
struct StoredShares: StoredValue, Hashable {
    var hosts: [String: StoredAmount]
}

extension ZoneUsage {
    /// - Parameter shares: entries under `StoreKeys.shares`, read in the same request as the head.
    /// - Returns: nil if the zone's usage was not counted yet, or an older replica has changed the zone since.
    init?(_ head: StoredHead, shares: [EtcdEntry]) throws(EtcdError) {
        guard let total = head.used else { return nil }
        var hosts: [HostID: QuotaAmount] = [:]
        for entry in shares {
            for (name, amount) in try StoredShares(entry).hosts {
                guard let host = HostID(name) else {
                    throw EtcdError(damaged: entry.key, "\"\(name)\" is not the id of a host")
                }
                hosts[host] = amount.amount
            }
        }
        self.init(total: total.amount, hosts: hosts)
    }

    func operations(from before: ZoneUsage, in zone: String, _ keys: StoreKeys) throws(EtcdError) -> [EtcdOperation] {
        var operations: [EtcdOperation] = []
        for digit in digits(from: before).sorted() { operations.append(try operation(digit, in: zone, keys)) }
        return operations
    }

    func digits(from before: ZoneUsage) -> Set<Character> {
        let changed = Set(hosts.keys).union(before.hosts.keys).filter { hosts[$0] != before.hosts[$0] }
        return Set(changed.compactMap(\.description.first))
    }

    private func operation(_ digit: Character, in zone: String, _ keys: StoreKeys) throws(EtcdError) -> EtcdOperation {
        let key = keys.shares(digit, in: zone)
        var shares: [String: StoredAmount] = [:]
        for (host, amount) in hosts where host.description.first == digit {
            shares[host.description] = StoredAmount(amount)
        }
        return shares.isEmpty ? .delete(key: key) : .put(key: key, value: try StoredShares(hosts: shares).bytes)
    }
}

extension RecordBatcher {
    /// Counts the usage of a zone without a valid count: the zone predates quotas, was moved here, or was changed by an
    /// older replica.
    func count(_ zone: String) async throws(EtcdError) {
        for _ in 0..<Self.countsMax {
            let found = try await client.read([
                EtcdRange(key: keys.head(zone)), EtcdRange(prefix: keys.shares(in: zone)),
            ]).ranges
            guard let entry = found[0].entries.first else {
                throw EtcdError(damaged: keys.head(zone), "it is missing")
            }
            var head = try StoredHead(entry)
            guard head.used == nil else { return }
            guard let usage = try await countRecords(of: zone) else { continue }
            head.used = StoredAmount(usage.total)
            head.before = head.sequence
            head.types = []
            head.writer = nextWriter()
            var transaction = EtcdTransaction(compares: [EtcdCompare(key: entry.key, revision: entry.revision)])
            transaction.success = [.put(key: entry.key, value: try head.bytes)]
            transaction.success += try usage.operations(from: ZoneUsage(), in: zone, keys)
            // A transaction may name a key only once, so do not delete a key that is also written.
            let written = usage.digits(from: ZoneUsage()).map { keys.shares($0, in: zone) }
            for share in found[1].entries where !written.contains(share.key) {
                transaction.success.append(.delete(key: share.key))
            }
            if try await client.commit(transaction).succeeded { return }
        }
        throw EtcdError(
            .overloaded,
            "the records of \(zone) cannot be counted: too many others write to it. Are there copies of the cloud "
                + "of an older version? Update them")
    }

    /// Counts the usage of all records; nil if etcd was compacted meanwhile.
    private func countRecords(of zone: String) async throws(EtcdError) -> ZoneUsage? {
        var usage = ZoneUsage()
        do {
            try await client.readAll(EtcdRange(prefix: keys.records(in: zone))) { entry in
                usage.add(ZoneUsage(of: try StoredRecord(entry).record))
            }
        } catch let error as EtcdError {
            if error.code == .compacted { return nil }
            throw error
        } catch {
            throw EtcdError(.garbage, "the records of \(zone) cannot be counted: \(error)")
        }
        return usage
    }

    private static let countsMax = 20
}

extension EtcdCloudEngine {
    package func setQuota(_ quota: ZoneQuota, of zone: String) async throws {
        try await changeZone(zone) { $0.quota = StoredQuota(quota) }
    }

    package func usage(of zone: String) async throws -> ZoneUsage {
        try await finish { [self] in
            try await check(zone)
            try await recordDesk.count(zone)
            let found = try await client.read([
                EtcdRange(key: keys.head(zone)), EtcdRange(prefix: keys.shares(in: zone)),
            ]).ranges
            guard let entry = found[0].entries.first else {
                throw EtcdError(damaged: keys.head(zone), "it is missing")
            }
            return try ZoneUsage(try StoredHead(entry), shares: found[1].entries) ?? ZoneUsage()
        }
    }

    /// Changes a zone's terms. Repeats `change` if another writer changed them first.
    func changeZone(_ zone: String, _ change: @escaping @Sendable (inout StoredTerms) -> Void) async throws {
        try await finish { [self] in
            try await check(zone)
            let key = keys.zone(zone)
            for _ in 0..<100 {
                guard let entry = try await client.read([EtcdRange(key: key)]).ranges[0].entries.first else {
                    throw EtcdError(damaged: key, "it is deleted again")
                }
                var stored = try StoredTerms(entry)
                change(&stored)
                var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: entry.revision)])
                transaction.success = [.put(key: key, value: try stored.bytes)]
                if try await client.commit(transaction).succeeded { return }
            }
            throw EtcdError(.overloaded, "too many others change the zone \(zone). Try again")
        }
    }
}
