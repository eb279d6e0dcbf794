import Cloud
import Domain
import Synchronization

struct SeenAliases: Hashable, Sendable {
    var book = AliasBook()
    /// Revision of the aliases' key. 0 before the first read, which creates a missing key.
    var revision: Int64 = 0
}

/// Aliases of all zones as last read by this replica. A decision compares the revision of the aliases' key, so it fails
/// on stale aliases.
final class AliasCache: Sendable {
    private static let roundsMax = 20
    /// Number of leases per transaction: each needs a comparison and a change.
    private static let leasesPerStep = 40

    private let client: EtcdClient
    private let keys: StoreKeys
    private let writer: String
    private let zones = Mutex<[String: SeenAliases]>([:])

    init(client: EtcdClient, keys: StoreKeys, writer: String) {
        self.client = client
        self.keys = keys
        self.writer = writer
    }

    func canonical(_ place: MeterPlace) -> MeterPlace {
        guard let seen = zones.withLock({ $0[place.zone] }) else { return place }
        return MeterPlace(zone: place.zone, meter: seen.book.canonical(place.meter))
    }

    func update(_ seen: SeenAliases, in zone: String) {
        zones.withLock { zones in
            guard seen.revision > zones[zone]?.revision ?? 0 else { return }
            zones[zone] = seen
        }
    }

    /// - Parameter revision: stale revision; aliases of any other revision are newer and stay cached.
    func forget(_ zone: String, seen revision: Int64) {
        zones.withLock { zones in
            if zones[zone]?.revision == revision { zones[zone] = nil }
        }
    }

    func aliases(of zone: String) async throws(EtcdError) -> SeenAliases {
        if let seen = zones.withLock({ $0[zone] }) { return seen }
        return try await read(zone)
    }

    /// Reads the zone's aliases. If etcd has none yet, first puts those in the zone's records into force.
    func read(_ zone: String) async throws(EtcdError) -> SeenAliases {
        let key = keys.aliases(of: zone)
        for _ in 0..<Self.roundsMax {
            if let entry = try await client.read([EtcdRange(key: key)]).ranges[0].entries.first {
                let seen = SeenAliases(book: try StoredAliases(entry).book, revision: entry.revision)
                update(seen, in: zone)
                return seen
            }
            do {
                try await adopt(zone)
            } catch let error as EtcdError {
                throw error
            } catch {
                throw EtcdError(.damaged, "the aliases of \(zone) cannot be read: \(error)")
            }
        }
        throw EtcdError(.overloaded, "too many others change the aliases of \(zone). Try again")
    }

    private func adopt(_ zone: String) async throws {
        var records: [SyncRecord] = []
        try await client.readAll(EtcdRange(prefix: keys.records(in: zone, type: .meterAlias))) { entry in
            records.append(try StoredRecord(entry).record)
        }
        var leases: [String: SeenLease] = [:]
        let prefix = keys.leases(in: zone)
        if !records.isEmpty {
            try await client.readAll(EtcdRange(prefix: prefix)) { entry in
                guard let meter = StoreKeys.text(of: entry.key, after: prefix) else { return }
                leases[meter] = try SeenLease(entry, pulse: 0, at: .origin)
            }
        }
        let adoption = AliasAdoption(records) { leases[$0]?.record }
        let key = keys.aliases(of: zone)
        var steps = adoption.leases.sorted { $0.key < $1.key }[...]
        repeat {
            let few = steps.prefix(Self.leasesPerStep)
            steps = steps.dropFirst(few.count)
            var transaction = EtcdTransaction(compares: [EtcdCompare(key: key, revision: 0)])
            for (meter, lease) in few {
                let place = keys.lease(of: meter, in: zone)
                transaction.compares.append(EtcdCompare(key: place, revision: leases[meter]?.revision ?? 0))
                transaction.success.append(.put(key: place, value: try StoredLease(lease, writer: writer).bytes))
            }
            if !few.isEmpty { transaction.success.append(.put(key: keys.leaseGeneration(zone), value: [])) }
            if steps.isEmpty {
                transaction.success.append(.put(key: key, value: try StoredAliases(adoption.book).bytes))
            }
            guard try await client.commit(transaction).succeeded else { return }
        } while !steps.isEmpty
    }
}
