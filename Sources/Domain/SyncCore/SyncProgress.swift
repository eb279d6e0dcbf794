/// Sync progress kept between runs, written in the same transactions as the records.
package struct SyncProgress: Hashable, Sendable {
    /// Epoch of the cloud's store that issued the change tokens; nil before the first contact.
    package var epoch: String?
    /// Identity of the zone that issued the change tokens (`SyncZone.identity`). Nil before the first contact, and in
    /// progress stored by versions without identities.
    package var zone: String?
    package var zoneName: String?
    /// Every zone that this host has joined, by `SyncZone.identity`.
    package var visits: [String: SyncVisit] = [:]
    package var record = RunHistory()
    /// Change token of each type: the position up to which its changes were fetched. A type without a token is fetched
    /// from the beginning.
    package var tokens: [RecordType: String]
    /// Types being fetched again from the beginning, because their change tokens expired
    /// (`SyncRepository.beginRefetch`).
    package var refetching: Set<RecordType>
    package var pending: Int
    /// Number of records held back until the cloud has room (`SyncRepository.retryHeldBack`).
    package var heldBack = 0
    /// Number of records set aside: the cloud refused them permanently, they cannot be stored here, or a refetch did
    /// not contain them.
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
    package var identity: String
    package var name: String
    /// End of the last complete run in this zone: the cloud's wall clock, milliseconds since 1970.
    package var serverTime: UInt64

    package init(identity: String, name: String, serverTime: UInt64) {
        self.identity = identity
        self.name = name
        self.serverTime = serverTime
    }
}

/// Outcome of past runs. Kept across restarts.
package struct RunHistory: Hashable, Sendable {
    /// Wall-clock time of the last complete run; nil without one.
    package var lastSuccess: WallTime?
    package var failures = 0

    package init(lastSuccess: WallTime? = nil, failures: Int = 0) {
        self.lastSuccess = lastSuccess
        self.failures = failures
    }
}
