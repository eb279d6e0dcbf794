import Cloud
import Domain
import GRDB

/// A transaction in progress, and the changes that the tables in memory receive after its commit.
///
/// Commands in one transaction see each other's changes; readers see them only after the commit. Only the writer's
/// thread may use this object.
final class WriteBatch {
    let db: Database
    private let leaseTable: LeaseTable
    private let zoneTable: ZoneTable
    private var leases: [LeaseKey: LeaseRecord] = [:]
    private var zones: [String: StoredZone] = [:]
    private var books: [Int64: AliasBook] = [:]
    private var afterCommit: [() -> Void] = []

    init(db: Database, leases: LeaseTable, zones: ZoneTable) {
        self.db = db
        leaseTable = leases
        zoneTable = zones
    }

    /// If `body` throws, undoes its changes in the database and in this batch.
    func inSavepoint(_ body: () throws -> Void) throws {
        let before = (leases, zones, afterCommit.count, books)
        do {
            try db.inSavepoint {
                try body()
                return .commit
            }
        } catch {
            leases = before.0
            zones = before.1
            books = before.3
            afterCommit.removeLast(afterCommit.count - before.2)
            throw error
        }
    }

    func committed() {
        zoneTable.replace(zones)
        for body in afterCommit { body() }
        leaseTable.settle(leases, aliases: books)
    }

    func rolledBack() { leaseTable.settle([:]) }

    func afterCommit(_ body: @escaping () -> Void) { afterCommit.append(body) }

    // MARK: - Zones

    func zone(_ name: String) throws -> StoredZone { try zones[name] ?? zoneTable.zone(name) }

    func findZone(_ name: String) -> StoredZone? { zones[name] ?? zoneTable.find(name) }

    /// Changes the zone in memory only: the caller has changed the database.
    func setZone(_ zone: StoredZone) { zones[zone.zone.name] = zone }

    // MARK: - Leases

    /// Returns the lease and reserves it: its renewals wait until the transaction ends.
    func lease(_ key: LeaseKey) throws -> LeaseRecord? {
        if let lease = leases[key] { return lease }
        if let lease = leaseTable.reserve(key) { return lease }
        return try LeaseRow.fetch(key, db)
    }

    /// - Throws: the refusal, if the zone's quota is exceeded.
    func countLease(of meter: String, for host: HostID?, in zone: String) throws {
        var stored = try self.zone(zone)
        if let refusal = stored.leases.refusal(of: host, creating: meter, in: zone, under: stored.zone.quota) {
            throw refusal
        }
        stored.leases.add(by: host)
        try LeaseUsageTable.write(stored.leases, of: host, in: stored.id, db)
        setZone(stored)
    }

    func setLease(_ lease: LeaseRecord, _ key: LeaseKey) { leases[key] = lease }

    func standing(of key: LeaseKey) throws -> LeaseSnapshot {
        try aliases(in: key.zone).standing(of: key.meter) { try lease(LeaseKey(zone: key.zone, meter: $0)) }
    }

    // MARK: - Aliases

    func aliases(in zone: Int64) -> AliasBook { books[zone] ?? leaseTable.aliases(in: zone) }

    /// Applies the record's alias, if any. Returns the reason of a refusal; nil if there was none.
    func follow(_ record: SyncRecord, in zone: Int64, at leaseTime: MonotonicTime) throws -> RecordOutcome
        .Fate?
    {
        let book = aliases(in: zone)
        guard let change = book.change(with: record) else { return nil }
        var leases: [String: LeaseRecord] = [:]
        for meter in change.meters { leases[meter] = try lease(LeaseKey(zone: zone, meter: meter)) }
        switch change.decide(leases, at: leaseTime) {
        case .held(let meter, let holder): return .leaseHeld(meter: meter, by: holder)
        case .tooMany: return .tooManyAliases
        case .accepted(let next, let freed):
            try AliasTable.write(next, over: book, in: zone, db)
            books[zone] = next
            for (meter, record) in freed {
                let key = LeaseKey(zone: zone, meter: meter)
                try LeaseRow.write(record, key, db)
                setLease(record, key)
            }
            return nil
        }
    }
}
