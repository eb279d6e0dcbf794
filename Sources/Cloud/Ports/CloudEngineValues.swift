package import CloudAPI
package import LeaseCore
package import MeterModel
package import SettingsCore

// What an engine is asked with, and what it answers.

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
    /// Its identity: made with the zone, and never another one.
    package let id: ID
    package var terms: LeaseTerms
    package var quota: ZoneQuota
    /// Of the last change.
    package var sequence: UInt64

    package init(name: String, id: ID, terms: LeaseTerms, quota: ZoneQuota = .standard, sequence: UInt64 = 0) {
        self.name = name
        self.id = id
        self.terms = terms
        self.quota = quota
        self.sequence = sequence
    }
}

/// A permission to use a zone. The token itself is known to its owner alone.
package struct Credential: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// Of one host, which binds itself to it at its first use.
        case host
        /// Lets hosts join: each that shows it is given a token of its own. Good for nothing else.
        case enrolment
    }

    /// Which host uses it.
    package struct Binding: Hashable, Sendable {
        package var host: HostID
        package var hostName: String
        /// What the host calls its machine, so that a copied SD card shows: a digest of its machine id.
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
    /// What the person who made it called it.
    package var label: String
    package var binding: Binding?
    package var createdAt: WallTime
    package var revokedAt: WallTime?

    package init(id: String, hash: [UInt8], zone: String, kind: Kind, label: String, createdAt: WallTime) {
        self.id = id
        self.hash = hash
        self.zone = zone
        self.kind = kind
        self.label = label
        self.createdAt = createdAt
    }
}

package struct RecordOutcome: Hashable, Sendable {
    package enum Fate: Hashable, Sendable {
        /// Nothing in it was news.
        case unchanged
        case changed(sequence: UInt64)
        /// A stamp too far ahead.
        case clockSkew
        /// With what is stored already it has more properties than `CloudLimits.propertiesPerRecord`.
        case tooManyProperties
        /// The zone, or the host's share of it, has no room for what it adds (`ZoneQuota`).
        case quotaExceeded(QuotaExcess)
        /// An alias for which a meter has to be free that somebody holds.
        case leaseHeld(meter: String, by: String)
        /// An alias beyond those that a meter or a zone can have (`AliasBook.idsPerMeter`, `entriesMax`).
        case tooManyAliases
    }

    package var fate: Fate
    /// As it is stored now. nil where it was refused and is not there.
    package var record: Record?

    package init(fate: Fate, record: Record?) {
        self.fate = fate
        self.record = record
    }
}

package struct ChangeList: Hashable, Sendable {
    package var records: [Record]
    package var token: ChangeToken
    package var moreComing: Bool
    /// The zone's identity.
    package var zoneID: Zone.ID

    package init(records: [Record], token: ChangeToken, moreComing: Bool, zoneID: Zone.ID) {
        self.zoneID = zoneID
        self.records = records
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
