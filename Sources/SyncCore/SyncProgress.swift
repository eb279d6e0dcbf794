package import MeterModel
package import SettingsCore

/// What the sync engine keeps between runs, in the same transactions as the records it speaks of.
package struct SyncProgress: Hashable, Sendable {
    /// Of the cloud's store that the tokens belong to; nil before the first contact.
    package var epoch: String?
    /// Of the zone that the tokens belong to (`SyncZone.identity`); nil before the first contact, and for progress from
    /// before zones had identities.
    package var zone: String?
    package var zoneName: String?
    /// Every zone that this host was in, by identity.
    package var visits: [String: SyncVisit] = [:]
    /// How the runs went so far.
    package var record = RunHistory()
    /// By type, how far its changes are stored here. None: from the beginning.
    package var tokens: [RecordType: String]
    /// Types whose tokens expired and which are read anew from the beginning (`SyncRepository.beginRefetch`).
    package var refetching: Set<RecordType>
    /// Changes that wait to be sent.
    package var pending: Int
    /// Records of which something waits until the cloud has room for it, and is not told before
    /// (`SyncRepository.retryHeldBack`).
    package var heldBack = 0
    /// Records that the cloud refused for good, that cannot be kept here, or that were set aside.
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

/// A zone that this host was in, and when a run there was last complete.
package struct SyncVisit: Hashable, Sendable {
    /// `SyncZone.identity`.
    package var identity: String
    package var name: String
    /// By the cloud's wall clock, milliseconds since 1970.
    package var serverTime: UInt64

    package init(identity: String, name: String, serverTime: UInt64) {
        self.identity = identity
        self.name = name
        self.serverTime = serverTime
    }
}

/// How the runs went, for people. Kept over restarts.
package struct RunHistory: Hashable, Sendable {
    /// When a run was last complete, by this host's calendar; nil for never.
    package var lastSuccess: WallTime?
    /// Runs that failed in a row since then.
    package var failures = 0

    package init(lastSuccess: WallTime? = nil, failures: Int = 0) {
        self.lastSuccess = lastSuccess
        self.failures = failures
    }
}
