/// What the sync engine keeps between runs, written in the same transactions as the records that it concerns.
package struct SyncProgress: Hashable, Sendable {
    /// Epoch of the cloud's store that the tokens belong to; nil before the first contact.
    package var epoch: String?
    /// Identity of the zone that the tokens belong to (`SyncZone.identity`); nil before the first contact, and for
    /// progress from before zones had identities.
    package var zone: String?
    package var zoneName: String?
    /// Every zone that this host has been in, by identity.
    package var visits: [String: SyncVisit] = [:]
    /// How the runs have gone so far.
    package var record = RunHistory()
    /// How far the changes of each type are stored here; a type without a token is read from the beginning.
    package var tokens: [RecordType: String]
    /// Types whose tokens expired and that are being read anew from the beginning (`SyncRepository.beginRefetch`).
    package var refetching: Set<RecordType>
    /// Number of changes that wait to be sent.
    package var pending: Int
    /// Number of records with something that waits until the cloud has room for it, and is not pushed before
    /// (`SyncRepository.retryHeldBack`).
    package var heldBack = 0
    /// Number of records that the cloud refused for good, that cannot be kept here, or that were set aside.
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

/// A zone that this host has been in, and when a run there was last complete.
package struct SyncVisit: Hashable, Sendable {
    /// `SyncZone.identity`.
    package var identity: String
    package var name: String
    /// When that was, by the cloud's wall clock, in milliseconds since 1970.
    package var serverTime: UInt64

    package init(identity: String, name: String, serverTime: UInt64) {
        self.identity = identity
        self.name = name
        self.serverTime = serverTime
    }
}

/// How the runs have gone, for people. Kept over restarts.
package struct RunHistory: Hashable, Sendable {
    /// When a run was last complete, by this host's calendar, if one ever was.
    package var lastSuccess: WallTime?
    /// Number of runs that have failed in a row since then.
    package var failures = 0

    package init(lastSuccess: WallTime? = nil, failures: Int = 0) {
        self.lastSuccess = lastSuccess
        self.failures = failures
    }
}
