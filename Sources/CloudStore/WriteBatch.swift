import Cloud
import GRDB
import LeaseCore
import MeterModel

/// One transaction on its way to the disk: the database, and what the tables in memory become once it is there.
///
/// Commands of one transaction see each other's changes; nobody else does before the commit. Belongs to the writer's
/// thread.
final class WriteBatch {
    let db: Database
    private let leaseTable: LeaseTable
    private let zoneTable: ZoneTable
    private var leases: [LeaseKey: LeaseRecord] = [:]
    private var zones: [String: StoredZone] = [:]
    /// What to do to other things in memory once it is on the disk.
    private var afterCommit: [() -> Void] = []

    init(db: Database, leases: LeaseTable, zones: ZoneTable) {
        self.db = db
        leaseTable = leases
        zoneTable = zones
    }

    /// Runs `body`; where it throws, nothing of it stays, in the database or here.
    func inSavepoint(_ body: () throws -> Void) throws {
        let before = (leases, zones, afterCommit.count)
        do {
            try db.inSavepoint {
                try body()
                return .commit
            }
        } catch {
            leases = before.0
            zones = before.1
            afterCommit.removeLast(afterCommit.count - before.2)
            throw error
        }
    }

    func committed() {
        zoneTable.replace(zones)
        for body in afterCommit { body() }
        leaseTable.settle(leases)
    }

    func rolledBack() { leaseTable.settle([:]) }

    func afterCommit(_ body: @escaping () -> Void) { afterCommit.append(body) }

    // MARK: - Zones

    /// - Throws: `zoneNotFound`.
    func zone(_ name: String) throws -> StoredZone { try zones[name] ?? zoneTable.zone(name) }

    func findZone(_ name: String) -> StoredZone? { zones[name] ?? zoneTable.find(name) }

    /// Whoever calls it has written the same to the database.
    func setZone(_ zone: StoredZone) { zones[zone.zone.name] = zone }

    // MARK: - Leases

    /// A lease as it is at this point of the transaction. From here to the end of the transaction its renewals wait.
    func lease(_ key: LeaseKey) throws -> LeaseRecord? {
        if let lease = leases[key] { return lease }
        if let lease = leaseTable.reserve(key) { return lease }
        return try LeaseRow.fetch(key, db)
    }

    func setLease(_ lease: LeaseRecord, _ key: LeaseKey) { leases[key] = lease }
}
