package import CloudAPI
package import Domain

// An engine's arguments and results.

package struct LeaseLimits: Hashable, Sendable {
    /// See `LeaseCircumstances`.
    package var tokenFloor: FencingToken
    package var grantsNothingNewBefore: MonotonicTime?

    package init(tokenFloor: FencingToken, grantsNothingNewBefore: MonotonicTime? = nil) {
        self.tokenFloor = tokenFloor
        self.grantsNothingNewBefore = grantsNothingNewBefore
    }
}

/// All hosts of one account.
package struct Zone: Hashable, Sendable {
    /// 1 to 64 of `a-z 0-9 - _`.
    package var name: String
    /// Its identity, made with the zone and never changed.
    package let id: ID
    package var terms: LeaseTerms
    package var quota: ZoneQuota
    /// The sequence of the last change.
    package var sequence: UInt64

    package init(name: String, id: ID, terms: LeaseTerms, quota: ZoneQuota = .standard, sequence: UInt64 = 0) {
        self.name = name
        self.id = id
        self.terms = terms
        self.quota = quota
        self.sequence = sequence
    }
}

/// A permission to use a zone. Only its owner knows the token itself.
package struct Credential: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// For one host, which binds itself to it at first use.
        case host
        /// Lets hosts join: each that presents it gets a token of its own. Good for nothing else.
        case enrolment
    }

    /// The host that uses the credential.
    package struct Binding: Hashable, Sendable {
        package var host: HostID
        package var hostName: String
        /// A digest of the machine's id, as the host reports it, by which a copied SD card is noticed.
        package var machine: String

        package init(host: HostID, hostName: String, machine: String) {
            self.host = host
            self.hostName = hostName
            self.machine = machine
        }
    }

    /// Short, for people: `token list`, `token revoke`.
    package var id: String
    /// SHA-256 of the token.
    package var hash: [UInt8]
    package var zone: String
    package var kind: Kind
    /// What the host may do that uses the credential, or that joins with it. Never changed.
    package let role: HostRole
    /// The label given by the person who made it.
    package var label: String
    package var binding: Binding?
    /// Id of the enrolment token that a host got this one for, while nobody has used it: the answer may have been lost.
    /// Nil once used, and for all others.
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
        /// There was nothing new in it.
        case unchanged
        case changed(sequence: UInt64)
        /// A stamp too far ahead.
        case clockSkew
        /// Together with what is stored, it has more properties than `CloudLimits.propertiesPerRecord`.
        case tooManyProperties
        /// The zone, or the host's share of it, has no room for what it adds (`ZoneQuota`).
        case quotaExceeded(QuotaExcess)
        /// An alias that requires a meter to be free which somebody holds.
        case leaseHeld(meter: String, by: String)
        /// An alias beyond the limits of a meter or a zone (`AliasBook.idsPerMeter`, `entriesMax`).
        case tooManyAliases
    }

    package var fate: Fate
    /// The record as it is stored now. Nil if it was refused and none is stored.
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
    /// The zone's identity.
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

/// A meter of a zone: where a lease is, and a lease queue.
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
