/// A page of changes as the cloud sent it.
package struct ChangesPage: Hashable, Sendable {
    package var type: RecordType
    package var records: [SyncRecord]
    /// Where the next page begins; opaque.
    package var token: String
    package var moreComing: Bool
    /// Epoch of the cloud's store.
    package var epoch: String
    /// The zone's identity, if the cloud gives zones one.
    package var zoneID: String?

    package init(
        type: RecordType, records: [SyncRecord], token: String, moreComing: Bool, epoch: String, zoneID: String? = nil
    ) {
        self.type = type
        self.records = records
        self.token = token
        self.moreComing = moreComing
        self.epoch = epoch
        self.zoneID = zoneID
    }
}

/// The cloud's answer to one record of a batch.
package struct PushResult: Hashable, Sendable {
    package var key: RecordKey
    /// Nil if the record was accepted.
    package var failure: SyncFailure?
    /// The record as the cloud has it now, if that differs from what was sent.
    package var merged: SyncRecord?

    package init(key: RecordKey, failure: SyncFailure? = nil, merged: SyncRecord? = nil) {
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

/// What the cloud knows about this host.
package struct CloudAccount: Hashable, Sendable {
    package var zone: String
    package var host: HostID
    package var hostName: String
    package var serverTime: UInt64
    package var epoch: String
    /// `keep` or `strict`, as text: its meaning is the business of the lease part.
    package var policy: String
    /// The zone's identity, if the cloud gives zones one.
    package var zoneID: String?
    /// What this host may do there.
    package var role = HostRole.full

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
