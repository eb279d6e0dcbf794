import CloudAPI
import CloudServer
import Domain
import GatewayAPI

// Elements of lists, as printed with --json. Keys include their unit, and null means unknown
// (Docs/CommandLine.md#output).

struct ZoneLine: Encodable {
    var name: String
    var id: String?
    var policy: String
    var ttl_ms: Int64
    var lock_delay_ms: Int64
    /// Configured lock delay. The effective one, `lock_delay_ms`, is longer if the time to live requires it.
    var asked_lock_delay_ms: Int64?
    var changes: UInt64
    var used_bytes: Int?
    var max_bytes: Int?
    var used_records: Int?
    var max_records: Int?
    var host_max_bytes: Int?
    var host_max_records: Int?
    var used_leases: Int?
    var max_leases: Int?
    /// Each host's use of the zone's storage, largest first.
    var hosts: [ShareLine]

    init(_ zone: ConsoleZone) {
        name = zone.name
        id = zone.id
        policy = zone.policy
        ttl_ms = zone.ttl
        lock_delay_ms = zone.lockDelay
        asked_lock_delay_ms = zone.askedLockDelay
        changes = zone.sequence
        (used_bytes, used_records) = (zone.used?.bytes, zone.used?.records)
        (max_bytes, max_records) = (zone.quota?.bytes, zone.quota?.records)
        (host_max_bytes, host_max_records) = (zone.quota?.hostBytes, zone.quota?.hostRecords)
        (used_leases, max_leases) = (zone.used?.leases, zone.quota?.leases)
        hosts = (zone.hosts ?? []).map { ShareLine($0, zone.quota) }
    }

    static let header = ["ZONE", "POLICY", "TTL", "LOCK-DELAY", "CHANGES", "USED", "RECORDS", "LEASES"]

    var cells: [String] {
        let asked = asked_lock_delay_ms.flatMap { $0 == lock_delay_ms ? nil : " (asked: \(Formatting.time($0)))" }
        return [
            name, policy, Formatting.time(ttl_ms), Formatting.time(lock_delay_ms) + (asked ?? ""), "\(changes)",
            Formatting.megabytes(used_bytes, of: max_bytes), Formatting.count(used_records, of: max_records),
            Formatting.count(used_leases, of: max_leases),
        ]
    }
}

struct ShareLine: Encodable {
    var host_id: String?
    var used_bytes: Int
    var used_records: Int
    private let limit: ConsoleQuota?

    init(_ usage: ConsoleUsage, _ limit: ConsoleQuota?) {
        host_id = usage.hostID
        used_bytes = usage.bytes
        used_records = usage.records
        self.limit = limit
    }

    private enum CodingKeys: String, CodingKey { case host_id, used_bytes, used_records }

    static let header = ["HOST", "USED", "RECORDS"]

    var cells: [String] {
        [
            host_id ?? "–", Formatting.megabytes(used_bytes, of: limit?.hostBytes),
            Formatting.count(used_records, of: limit?.hostRecords),
        ]
    }
}

struct LeaseLine: Encodable {
    var meter: String
    var state: String
    @NullCodable var holder: String?
    @NullCodable var holder_id: String?
    var token: UInt64
    @NullCodable var transport: String?
    @NullCodable var acquired_at: String?
    var policy: String
    var ttl_ms: Int64
    var lock_delay_ms: Int64
    var remaining_ms: Int64
    var waiting: [String]

    init(_ lease: LeaseBody) {
        meter = lease.meter
        state = lease.state
        token = lease.token
        policy = lease.policy
        (ttl_ms, lock_delay_ms, remaining_ms) = (lease.ttl, lease.lockDelay, lease.remaining)
        waiting = lease.waiting
        (holder, holder_id) = (lease.holderName, lease.holderID)
        (transport, acquired_at) = (lease.transport, lease.acquiredAt)
    }

    static let header = ["METER", "STATE", "HOLDER", "REMAINING", "TOKEN", "TRANSPORT", "WAITING"]

    var cells: [String] {
        [
            meter, state, holder ?? "–", state == "free" ? "–" : Formatting.time(remaining_ms), "\(token)",
            transport ?? "–", waiting.isEmpty ? "–" : waiting.joined(separator: ", "),
        ]
    }
}

struct TokenLine: Encodable {
    var id: String
    var zone: String
    var kind: String
    /// Role of the token: `full` or `readOnly`.
    var role: String
    var label: String
    @NullCodable var host: String?
    @NullCodable var host_id: String?
    var created_at: String
    @NullCodable var revoked_at: String?

    init(_ token: ConsoleToken) {
        (id, zone, kind, label) = (token.id, token.zone, token.kind, token.label)
        role = token.role ?? HostRole.full.rawValue
        created_at = token.createdAt
        (host, host_id, revoked_at) = (token.hostName, token.hostID, token.revokedAt)
    }

    static let header = ["ID", "ZONE", "KIND", "MAY", "HOST", "LABEL", "CREATED", "REVOKED"]

    var cells: [String] {
        [
            id, zone, kind, Formatting.role(role), host ?? "–", label.isEmpty ? "–" : label, created_at,
            revoked_at ?? "–",
        ]
    }
}

struct RecordLine: Encodable {
    var type: String
    var name: String
    var properties: Int
    var deleted: Bool
    @NullCodable var merged_into: String? = nil
    @NullCodable var changed_at: String? = nil

    init(_ record: SyncRecord) {
        type = record.key.type.rawValue
        name = record.key.name
        properties = record.properties.count
        deleted = record.isTombstone
        merged_into = record.deletion?.mergedInto
        changed_at = record.newestStamp.map { Formatting.time(of: $0) }
    }

    static let header = ["TYPE", "NAME", "PROPERTIES", "STATE", "CHANGED"]

    var cells: [String] {
        let state = merged_into.map { "merged into \($0)" } ?? (deleted ? "deleted" : "–")
        return [type, name, "\(properties)", state, changed_at ?? "–"]
    }
}
