import CloudAPI
import CloudServer
import GatewayAPI
import MeterModel
import SettingsCore

// What lists print with --json: keys include their unit, unknown is null (Docs/CommandLine.md#output).

struct ZoneLine: Encodable {
    var name: String
    var id: String?
    var policy: String
    var ttl_ms: Int64
    var lock_delay_ms: Int64
    var changes: UInt64
    var used_bytes: Int?
    var max_bytes: Int?
    var used_records: Int?
    var max_records: Int?
    /// The limit for one host.
    var host_max_bytes: Int?
    var host_max_records: Int?
    /// Largest first.
    var hosts: [ShareLine]

    init(_ zone: ConsoleZone) {
        name = zone.name
        id = zone.id
        policy = zone.policy
        ttl_ms = zone.ttl
        lock_delay_ms = zone.lockDelay
        changes = zone.sequence
        (used_bytes, used_records) = (zone.used?.bytes, zone.used?.records)
        (max_bytes, max_records) = (zone.quota?.bytes, zone.quota?.records)
        (host_max_bytes, host_max_records) = (zone.quota?.hostBytes, zone.quota?.hostRecords)
        hosts = (zone.hosts ?? []).map { ShareLine($0, zone.quota) }
    }

    static let header = ["ZONE", "POLICY", "TTL", "LOCK-DELAY", "CHANGES", "USED", "RECORDS"]

    var cells: [String] {
        [
            name, policy, Formatting.time(ttl_ms), Formatting.time(lock_delay_ms), "\(changes)",
            Formatting.megabytes(used_bytes, of: max_bytes), Formatting.count(used_records, of: max_records),
        ]
    }
}

/// One host's part of a zone's records.
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
    private let lease: LeaseBody

    init(_ lease: LeaseBody) { self.lease = lease }

    private enum CodingKeys: String, CodingKey {
        case meter, state, holder, holder_id, token, transport, acquired_at, policy, ttl_ms, lock_delay_ms
        case remaining_ms, waiting
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lease.meter, forKey: .meter)
        try container.encode(lease.state, forKey: .state)
        try container.encode(lease.holderName, forKey: .holder)
        try container.encode(lease.holderID, forKey: .holder_id)
        try container.encode(lease.token, forKey: .token)
        try container.encode(lease.transport, forKey: .transport)
        try container.encode(lease.acquiredAt, forKey: .acquired_at)
        try container.encode(lease.policy, forKey: .policy)
        try container.encode(lease.ttl, forKey: .ttl_ms)
        try container.encode(lease.lockDelay, forKey: .lock_delay_ms)
        try container.encode(lease.remaining, forKey: .remaining_ms)
        try container.encode(lease.waiting, forKey: .waiting)
    }

    static let header = ["METER", "STATE", "HOLDER", "REMAINING", "TOKEN", "TRANSPORT", "WAITING"]

    var cells: [String] {
        let isHeld = lease.state != "free"
        return [
            lease.meter, lease.state, lease.holderName ?? "–",
            isHeld ? Formatting.time(lease.remaining) : "–", "\(lease.token)", lease.transport ?? "–",
            lease.waiting.isEmpty ? "–" : lease.waiting.joined(separator: ", "),
        ]
    }
}

struct TokenLine: Encodable {
    private let token: ConsoleToken

    init(_ token: ConsoleToken) { self.token = token }

    private enum CodingKeys: String, CodingKey {
        case id, zone, kind, label, host, host_id, created_at, revoked_at
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(token.id, forKey: .id)
        try container.encode(token.zone, forKey: .zone)
        try container.encode(token.kind, forKey: .kind)
        try container.encode(token.label, forKey: .label)
        try container.encode(token.hostName, forKey: .host)
        try container.encode(token.hostID, forKey: .host_id)
        try container.encode(token.createdAt, forKey: .created_at)
        try container.encode(token.revokedAt, forKey: .revoked_at)
    }

    static let header = ["ID", "ZONE", "KIND", "HOST", "LABEL", "CREATED", "REVOKED"]

    var cells: [String] {
        [
            token.id, token.zone, token.kind, token.hostName ?? "–",
            token.label.isEmpty ? "–" : token.label, token.createdAt, token.revokedAt ?? "–",
        ]
    }
}

/// A record in a list; `record show` prints all of it.
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
