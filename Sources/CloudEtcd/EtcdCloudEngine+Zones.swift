package import Cloud
import CloudAPI
package import Domain
import Synchronization

extension EtcdCloudEngine {
    package func createZone(_ name: String, id: Zone.ID?, terms: LeaseTerms) async throws -> Zone {
        let id = id ?? rng.withLock { Zone.ID(using: &$0) }
        return try await finish { [self] in
            var transaction = EtcdTransaction(compares: [EtcdCompare(key: keys.zone(name), revision: 0)])
            transaction.success = [
                .put(key: keys.zone(name), value: try StoredTerms(terms).bytes),
                .put(key: keys.head(name), value: try StoredHead(used: StoredAmount(.zero)).bytes),
                .put(key: keys.identity(of: name), value: Array(id.description.utf8)),
                // Create this key now. Otherwise the first read of the aliases creates it, which fails once etcd's
                // quota is reached.
                .put(key: keys.aliases(of: name), value: try StoredAliases(AliasBook()).bytes),
            ]
            _ = try await client.commit(transaction)
            guard let zone = try await readZone(name) else {
                throw EtcdError(damaged: keys.zone(name), "it is deleted again")
            }
            return zone
        }
    }

    package func zones() async throws -> [Zone] {
        try await finish { [self] in
            let found = try await client.read([EtcdRange(prefix: keys.allZones), EtcdRange(prefix: keys.allHeads)])
                .ranges
            var zones: [Zone] = []
            for entry in found[0].entries {
                guard let name = StoreKeys.text(of: entry.key, after: keys.allZones) else { continue }
                let head = found[1].entries.first { $0.key == keys.head(name) }
                zones.append(try zone(name, try await check(name), entry, head: head))
            }
            return zones.sorted { $0.name < $1.name }
        }
    }

    package func zone(_ name: String) async throws -> Zone? { try await finish { [self] in try await readZone(name) } }

    private func readZone(_ name: String) async throws -> Zone? {
        // Different revisions of the two keys are harmless, because the head's sequence only grows.
        async let terms = reads.entry(keys.zone(name))
        async let head = reads.entry(keys.head(name))
        guard let entry = try await terms else { return nil }
        return try zone(name, try await check(name), entry, head: try await head)
    }

    private func zone(
        _ name: String, _ id: Zone.ID, _ entry: EtcdEntry, head: EtcdEntry?
    ) throws(EtcdError) -> Zone {
        let stored = try StoredTerms(entry)
        guard let terms = stored.terms else { throw EtcdError(damaged: entry.key, "no such policy") }
        return Zone(
            name: name, id: id, terms: terms, quota: stored.quota?.quota ?? .standard,
            sequence: try head.map { head throws(EtcdError) in try StoredHead(head) }?.sequence ?? 0)
    }

    package func setTerms(_ terms: LeaseTerms, of zone: String) async throws {
        try await changeZone(zone) { stored in
            let quota = stored.quota
            stored = StoredTerms(terms)
            stored.quota = quota
        }
    }
}
