package import CloudAPI
package import Domain

package struct LeaseLimits: Hashable, Sendable {
    /// Minimum fencing token of a grant; see `LeaseCircumstances`.
    package var tokenFloor: FencingToken
    package var grantsNothingNewBefore: MonotonicTime?

    package init(tokenFloor: FencingToken, grantsNothingNewBefore: MonotonicTime? = nil) {
        self.tokenFloor = tokenFloor
        self.grantsNothingNewBefore = grantsNothingNewBefore
    }
}

/// A zone: all hosts of one account.
package struct Zone: Hashable, Sendable {
    /// 1 to 64 of the characters `a-z 0-9 - _`.
    package var name: String
    /// Created with the zone and never changed.
    package let id: ID
    package var terms: LeaseTerms
    package var quota: ZoneQuota
    package var sequence: UInt64

    package init(name: String, id: ID, terms: LeaseTerms, quota: ZoneQuota = .standard, sequence: UInt64 = 0) {
        self.name = name
        self.id = id
        self.terms = terms
        self.quota = quota
        self.sequence = sequence
    }
}

/// A permission to use a zone. The cloud stores only the hash of its access token.
package struct Credential: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case host
        /// Access token that only lets hosts join. Each host then gets its own access token.
        case enrolment
    }

    package struct Binding: Hashable, Sendable {
        package var host: HostID
        package var hostName: String
        /// Digest of the machine's id, which reveals a copied SD card.
        package var machine: String

        package init(host: HostID, hostName: String, machine: String) {
            self.host = host
            self.hostName = hostName
            self.machine = machine
        }
    }

    package var id: String
    /// SHA-256 of the access token.
    package var hash: [UInt8]
    package var zone: String
    package var kind: Kind
    /// Role of the host, or of the hosts that join with this access token. Never changed.
    package let role: HostRole
    package var label: String
    package var binding: Binding?
    /// Id of the enrolment token for which a host received this access token. Kept until the first use, because the
    /// answer may have been lost. Nil after that, and for all other credentials.
    package var unusedFrom: String?
    package var createdAt: WallTime
    package var revokedAt: WallTime?

    package init(
        id: String, hash: [UInt8], zone: String, kind: Kind, role: HostRole = .full, label: String, createdAt: WallTime
    ) {
        self.id = id
        self.hash = hash
        self.zone = zone
        self.kind = kind
        self.role = role
        self.label = label
        self.createdAt = createdAt
    }
}

package struct RecordOutcome: Hashable, Sendable {
    package enum Fate: Hashable, Sendable {
        case unchanged
        case changed(sequence: UInt64)
        /// The stamp of a change is too far ahead of the cloud's system clock.
        case clockSkew
        /// The merged record has more than `CloudLimits.propertiesPerRecord` properties.
        case tooManyProperties
        case quotaExceeded(QuotaExcess)
        case leaseHeld(meter: String, by: String)
        case tooManyAliases
    }

    package var fate: Fate
    /// Stored record; nil if the record was refused and none is stored.
    package var record: SyncRecord?

    package init(fate: Fate, record: SyncRecord?) {
        self.fate = fate
        self.record = record
    }
}

package struct ChangeList: Hashable, Sendable {
    package var page: RecordPage
    package var token: ChangeToken
    package var moreComing: Bool
    package var zoneID: Zone.ID

    package var records: [SyncRecord] { page.records }

    package init(records: [SyncRecord], token: ChangeToken, moreComing: Bool, zoneID: Zone.ID) {
        self.init(page: RecordPage(records), token: token, moreComing: moreComing, zoneID: zoneID)
    }

    package init(page: RecordPage, token: ChangeToken, moreComing: Bool, zoneID: Zone.ID) {
        self.zoneID = zoneID
        self.page = page
        self.token = token
        self.moreComing = moreComing
    }
}

package struct MeterPlace: Hashable, Sendable {
    package var zone: String
    package var meter: String

    package init(zone: String, meter: String) {
        self.zone = zone
        self.meter = meter
    }
}

extension MeterPlace: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool { (lhs.zone, lhs.meter) < (rhs.zone, rhs.meter) }
}
