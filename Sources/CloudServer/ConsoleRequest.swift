package import CloudAPI
package import Domain

/// A request by an administrator: sent as JSON over the console's socket while the server runs, otherwise carried out
/// by the console's own process.
package enum ConsoleRequest: Codable, Hashable, Sendable {
    /// Terms that are nil get their standard values. If `id` is nil, the zone gets a new id.
    case createZone(name: String, id: String?, terms: ConsoleTerms)
    case zones
    case zone(name: String)
    /// Changes the terms that are not nil.
    case setTerms(zone: String, terms: ConsoleTerms)
    /// Limits that are nil do not change, except that a zone's limit alone sets a host's limit to a quarter of it.
    case setQuota(zone: String, quota: ConsoleQuota)
    case records(zone: String, type: String?)
    case record(zone: String, type: String, name: String)
    case deleteRecord(zone: String, type: String, name: String)
    case hosts(zone: String)
    /// `host` is an id, or a name that only one host has.
    case retireHost(zone: String, host: String)
    case leases(zone: String)
    case revokeLease(zone: String, meter: String)
    case createToken(zone: String, isEnrolment: Bool, label: String)
    /// Like `createToken`, for read-only hosts. A separate case, because an older server refuses it; it would ignore a
    /// new value of `createToken` and issue a token with all rights.
    case createReadOnlyToken(zone: String, isEnrolment: Bool, label: String)
    /// `zone` is nil for all zones.
    case tokens(zone: String?)
    case revokeToken(id: String)
    /// Absolute path on the server's machine.
    case backup(path: String)
}

/// Lease terms to set: durations in milliseconds; the policy is `keep` or `strict`.
package struct ConsoleTerms: Codable, Hashable, Sendable {
    package var policy: String?
    package var ttl: Int64?
    package var lockDelay: Int64?

    package init(policy: String? = nil, ttl: Int64? = nil, lockDelay: Int64? = nil) {
        self.policy = policy
        self.ttl = ttl
        self.lockDelay = lockDelay
    }
}

package struct ConsoleQuota: Codable, Hashable, Sendable {
    package var bytes: Int?
    package var records: Int?
    package var hostBytes: Int?
    package var hostRecords: Int?
    /// Maximum number of leases that the zone may ever create.
    package var leases: Int?

    package init(
        bytes: Int? = nil, records: Int? = nil, hostBytes: Int? = nil, hostRecords: Int? = nil, leases: Int? = nil
    ) {
        self.leases = leases
        self.bytes = bytes
        self.records = records
        self.hostBytes = hostBytes
        self.hostRecords = hostRecords
    }
}

package struct ConsoleUsage: Codable, Hashable, Sendable {
    /// Nil for the whole zone.
    package var hostID: String?
    package var bytes: Int
    package var records: Int
    /// Number of leases that the zone ever created. Nil for a host, and from a server that does not count leases.
    package var leases: Int?

    package init(hostID: String? = nil, bytes: Int, records: Int, leases: Int? = nil) {
        self.hostID = hostID
        self.bytes = bytes
        self.records = records
        self.leases = leases
    }
}

package enum ConsoleAnswer: Codable, Hashable, Sendable {
    case zone(ConsoleZone)
    case zones([ConsoleZone])
    case record(SyncRecord)
    case records([SyncRecord])
    case host(HostBody)
    case hosts([HostBody])
    case lease(LeaseBody)
    case leases([LeaseBody])
    /// The only answer that contains a new token's text.
    case newToken(ConsoleToken, text: String)
    case tokens([ConsoleToken])
    case done
}

package struct ConsoleZone: Codable, Hashable, Sendable {
    package var name: String
    /// UUID; nil from a server without zone identities.
    package var id: String?
    package var policy: String
    /// In milliseconds.
    package var ttl: Int64
    /// In milliseconds.
    package var lockDelay: Int64
    /// Requested lock-delay in milliseconds; nil from a server that does not store it.
    package var askedLockDelay: Int64?
    package var sequence: UInt64
    /// Nil from a server without quotas.
    package var quota: ConsoleQuota?
    package var used: ConsoleUsage?
    /// Usage of each host, largest first.
    package var hosts: [ConsoleUsage]?
}

package struct ConsoleToken: Codable, Hashable, Sendable {
    package var id: String
    package var zone: String
    /// `host` or `enrolment`.
    package var kind: String
    /// `full` or `readOnly` (`HostRole`). Nil from a server without roles, whose tokens have all rights.
    package var role: String?
    package var label: String
    package var hostID: String?
    package var hostName: String?
    /// In the format of RFC 3339.
    package var createdAt: String
    /// In the format of RFC 3339; nil while the token is valid.
    package var revokedAt: String?
}
