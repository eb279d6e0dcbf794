package import MeterModel
package import SettingsCore

/// A page of changes as the cloud gave it.
package struct ChangesPage: Hashable, Sendable {
    package var type: RecordType
    package var records: [Record]
    /// Where the next page begins. Opaque.
    package var token: String
    package var moreComing: Bool
    /// Of the cloud's store.
    package var epoch: String
    /// The zone's identity; nil from a cloud that has none.
    package var zoneID: String?

    package init(
        type: RecordType, records: [Record], token: String, moreComing: Bool, epoch: String, zoneID: String? = nil
    ) {
        self.type = type
        self.records = records
        self.token = token
        self.moreComing = moreComing
        self.epoch = epoch
        self.zoneID = zoneID
    }
}

/// Some of what this host has to tell: for each record only its pending properties, in the order of `RecordType.known`
/// and oldest first. Confirmed by stamp, so a change made while the batch is under way stays pending.
package struct OutboxBatch: Hashable, Sendable {
    package var records: [Record]

    package init(records: [Record]) { self.records = records }
}

/// What the cloud said to one record of a batch.
package struct PushResult: Hashable, Sendable {
    package var key: RecordKey
    /// nil means taken.
    package var failure: SyncFailure?
    /// The record as the cloud has it now, where it is not the one that was sent.
    package var merged: Record?

    package init(key: RecordKey, failure: SyncFailure? = nil, merged: Record? = nil) {
        self.key = key
        self.failure = failure
        self.merged = merged
    }
}

/// The answer to a batch.
package struct PushOutcome: Hashable, Sendable {
    package var results: [PushResult]
    /// The cloud's wall clock when it answered, milliseconds since 1970.
    package var serverTime: UInt64

    package init(results: [PushResult], serverTime: UInt64) {
        self.results = results
        self.serverTime = serverTime
    }
}

/// Who the cloud thinks we are.
package struct CloudAccount: Hashable, Sendable {
    package var zone: String
    package var host: HostID
    package var hostName: String
    package var serverTime: UInt64
    package var epoch: String
    /// `keep` or `strict`, as text: the lease part knows what it means.
    package var policy: String
    /// The zone's identity; nil from a cloud that has none.
    package var zoneID: String?

    package init(
        zone: String, host: HostID, hostName: String, serverTime: UInt64, epoch: String, policy: String,
        zoneID: String? = nil
    ) {
        self.zone = zone
        self.host = host
        self.hostName = hostName
        self.serverTime = serverTime
        self.epoch = epoch
        self.policy = policy
        self.zoneID = zoneID
    }

    var syncZone: SyncZone { SyncZone(id: zoneID, name: zone, epoch: epoch, serverTime: serverTime) }
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
package struct SyncRecord: Hashable, Sendable {
    /// When a run was last complete, by this host's calendar; nil for never.
    package var lastSuccess: WallTime?
    /// Runs that failed in a row since then.
    package var failures = 0

    package init(lastSuccess: WallTime? = nil, failures: Int = 0) {
        self.lastSuccess = lastSuccess
        self.failures = failures
    }
}

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
    package var record = SyncRecord()
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

/// What a page or a batch's answer changed in the store.
package struct MergeOutcome: Hashable, Sendable {
    /// Records that are not what they were.
    package var changed: [RecordKey]
    /// Records of the page that were skipped: nothing new in them.
    package var unchanged: Int
    /// Records that cannot be kept (an illegal name or value), or that the cloud did not list: set aside with the
    /// reason.
    package var parked: Int
    /// What in them is another host's news, for the log.
    package var news: [RecordNews] = []
    /// Properties and deletions that the cloud acknowledged and does not list: they wait to be sent once more.
    package var toldAgain = 0

    package init(changed: [RecordKey] = [], unchanged: Int = 0, parked: Int = 0) {
        self.changed = changed
        self.unchanged = unchanged
        self.parked = parked
    }
}

/// What a merge took over of one record from others.
package struct RecordNews: Hashable, Sendable {
    package var key: RecordKey
    /// In order of name.
    package var properties: [String]
    package var isDeleted: Bool
    /// Who wrote it, in order.
    package var hosts: [HostID]

    /// nil where the merge took nothing over.
    package init?(_ merge: RecordMerge) {
        guard !merge.isEmpty else { return nil }
        key = merge.after.key
        properties = merge.news
        isDeleted = merge.deletionIsNews
        var hosts = Set(merge.news.compactMap { merge.after.properties[$0]?.stamp.host })
        if merge.deletionIsNews, let deletion = merge.after.deletion { hosts.insert(deletion.stamp.host) }
        self.hosts = hosts.sorted()
    }
}
