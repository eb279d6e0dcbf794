import Cloud
import Domain

struct AliasBasis: Sendable {
    let seen: SeenAliases
    let leases: [String: SeenLease]
    /// Monotonic time of the write request, which precedes the read of the leases.
    let leaseTime: MonotonicTime

    enum Verdict: Sendable {
        case refused(RecordOutcome.Fate)
        case followed(Step)
    }

    func decide(_ change: AliasChange) -> Verdict {
        switch change.decide(leases.compactMapValues(\.record), at: leaseTime) {
        case .held(let meter, let holder): return .refused(.leaseHeld(meter: meter, by: holder))
        case .tooMany: return .refused(.tooManyAliases)
        case .accepted(let book, let freed):
            return .followed(Step(book: book, freed: freed, revision: seen.revision, leases: leases))
        }
    }

    /// Changes that put an alias into force in the request that stores its record. That request fails if the aliases or
    /// leases have changed since they were read.
    struct Step: Sendable {
        let book: AliasBook
        let freed: [String: LeaseRecord]
        fileprivate let revision: Int64
        fileprivate let leases: [String: SeenLease]

        func add(
            to transaction: inout EtcdTransaction, in zone: String, _ keys: StoreKeys, writer: String
        ) throws(EtcdError) {
            let aliases = keys.aliases(of: zone)
            transaction.compares.append(EtcdCompare(key: aliases, revision: revision))
            transaction.success.append(.put(key: aliases, value: try StoredAliases(book).bytes))
            for (meter, lease) in leases.sorted(by: { $0.key < $1.key }) {
                let key = keys.lease(of: meter, in: zone)
                transaction.compares.append(EtcdCompare(key: key, revision: lease.revision))
                guard let record = freed[meter] else { continue }
                // A changed pulse (the key that each renewal changes) means that the lease was renewed, so it has not
                // expired.
                transaction.compares.append(
                    EtcdCompare(key: keys.pulse(of: meter, in: zone), revision: lease.pulse))
                transaction.success.append(.put(key: key, value: try StoredLease(record, writer: writer).bytes))
            }
            if !freed.isEmpty { transaction.success.append(.put(key: keys.leaseGeneration(zone), value: [])) }
        }

        func putInForce(at revision: Int64, in zone: String, _ aliases: AliasCache, _ leaseCache: LeaseCache) {
            aliases.update(SeenAliases(book: book, revision: revision), in: zone)
            for (meter, record) in freed {
                let seen = SeenLease(record: record, revision: revision, pulse: leases[meter]?.pulse ?? 0)
                leaseCache.update(seen, at: MeterPlace(zone: zone, meter: meter), isOwn: true)
            }
        }
    }
}
