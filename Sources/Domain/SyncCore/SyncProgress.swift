/// Sync state kept between runs. The store writes it in the same transactions as the records.
package struct SyncProgress: Hashable, Sendable {
    /// Epoch of the cloud's store that issued the change tokens; nil before the first contact.
    package var epoch: String?
    /// Identity of the zone to which the change tokens belong (`SyncZone.identity`). Nil before the first contact, and
    /// in progress stored by versions without identities.
    package var zone: String?
    package var zoneName: String?
    /// Every zone that this host has joined, by identity.
    package var visits: [String: SyncVisit] = [:]
    package var record = RunHistory()
    /// Change token of each type: the position up to which its changes were read. A type without a token is read from
    /// the beginning.
    package var tokens: [RecordType: String]
    /// Types being read again from the beginning after their change tokens expired (`SyncRepository.beginRefetch`).
    package var refetching: Set<RecordType>
    package var pending: Int
    /// Number of records held back until the cloud has room (`SyncRepository.retryHeldBack`).
    package var heldBack = 0
    /// Number of records that the cloud refused permanently, that cannot be stored here, or that were set aside.
    package var parked: Int

    package init(
        epoch: String? = nil, zone: String? = nil, zoneName: String? = nil, tokens: [RecordType: String] = [:],
        refetching: Set<RecordType> = [], pending: Int = 0,
        parked: Int = 0
    ) {
        self.epoch = epoch
        self.zone = zone
        self.zoneName = zoneName
        self.tokens = tokens
        self.refetching = refetching
        self.pending = pending
        self.parked = parked
    }
}

package struct SyncVisit: Hashable, Sendable {
    /// Identity of the zone (`SyncZone.identity`).
    package var identity: String
    package var name: String
    /// Time of the last complete run in this zone, by the cloud's wall clock, in milliseconds since 1970.
    package var serverTime: UInt64

    package init(identity: String, name: String, serverTime: UInt64) {
        self.identity = identity
        self.name = name
        self.serverTime = serverTime
    }
}

/// Outcome of past runs, for people. Kept across restarts.
package struct RunHistory: Hashable, Sendable {
    /// Time of the last complete run, by this host's calendar; nil without one.
    package var lastSuccess: WallTime?
    package var failures = 0

    package init(lastSuccess: WallTime? = nil, failures: Int = 0) {
        self.lastSuccess = lastSuccess
        self.failures = failures
    }
}
