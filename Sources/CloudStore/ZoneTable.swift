import Cloud
import Domain
import GRDB
import Synchronization

struct StoredZone: Hashable, Sendable {
    var id: Int64
    var zone: Zone
    /// Greatest sequence of a purged tombstone; 0 if there was none.
    var floor: UInt64
    /// Latest time in the change stamps of accepted records, in milliseconds since 1970; 0 if there was none.
    var accepted: UInt64
    var usage = ZoneUsage()
    var leases = LeaseUsage()
    /// Whether this process has added its own entry (`TimelineMark`) to the zone's timeline. Not stored.
    var isMarked = false
}

/// Zones and credentials, in memory because every request needs one of each.
final class ZoneTable: Sendable {
    private struct State {
        var zones: [String: StoredZone] = [:]
        var credentials: [[UInt8]: Credential] = [:]
    }

    private let state = Mutex(State())

    func load(zones: [StoredZone], credentials: [Credential]) {
        state.withLock { state in
            for zone in zones { state.zones[zone.zone.name] = zone }
            for credential in credentials { state.credentials[credential.hash] = credential }
        }
    }

    func zone(_ name: String) throws(CloudFailure) -> StoredZone {
        guard let zone = find(name) else { throw .zoneNotFound(name) }
        return zone
    }

    func find(_ name: String) -> StoredZone? { state.withLock { $0.zones[name] } }

    var zones: [StoredZone] { state.withLock { $0.zones.values.sorted { $0.zone.name < $1.zone.name } } }

    func replace(_ zones: [String: StoredZone]) { state.withLock { $0.zones.merge(zones) { $1 } } }

    func credential(hash: [UInt8]) -> Credential? { state.withLock { $0.credentials[hash] } }

    func credentials(in zone: String?) -> [Credential] {
        state.withLock { Array($0.credentials.values) }.filter { zone == nil || $0.zone == zone }
            .sorted { ($0.zone, $0.createdAt, $0.id) < ($1.zone, $1.createdAt, $1.id) }
    }

    func set(_ credential: Credential) { state.withLock { $0.credentials[credential.hash] = credential } }
}

extension StoredZone {
    static func fetchAll(_ db: Database) throws -> [StoredZone] {
        let (usages, leases) = (try UsageTable.fetchAll(db), try LeaseUsageTable.fetchAll(db))
        return try Row.fetchAll(db, sql: "SELECT * FROM zone").map { row in
            var zone = try StoredZone(row)
            zone.usage = usages[zone.id] ?? ZoneUsage()
            zone.leases = leases[zone.id] ?? LeaseUsage()
            return zone
        }
    }

    init(_ row: Row) throws {
        let name: String = row["name"]
        let identity: String = row["identity"]
        guard let zoneID = Zone.ID(identity) else {
            throw CloudStoreError(
                .damaged,
                "the zone \(name) has the identity \"\(identity)\", which is not a UUID. Restore from a backup")
        }
        self.init(
            id: row["id"],
            zone: Zone(
                name: name, id: zoneID, terms: try LeaseTerms(row, of: "the zone \(name)"), quota: ZoneQuota(row),
                sequence: UInt64(clamping: row["sequence"] as Int64)),
            floor: UInt64(clamping: row["floor"] as Int64), accepted: UInt64(clamping: row["accepted_ms"] as Int64))
    }
}

extension LeaseTerms {
    init(_ row: Row, of owner: @autoclosure () -> String) throws {
        let text: String = row["policy"]
        guard let policy = LeasePolicy(rawValue: text) else {
            throw CloudStoreError(
                .damaged, "\(owner()) has the policy \"\(text)\", which is not a policy. Restore from a backup")
        }
        self.init(
            timeToLive: .milliseconds(row["ttl_ms"] as Int64), lockDelay: .milliseconds(row["lock_delay_ms"] as Int64),
            policy: policy)
    }
}
