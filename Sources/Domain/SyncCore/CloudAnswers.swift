package struct ChangesPage: Hashable, Sendable {
    package var type: RecordType
    package var records: [SyncRecord]
    /// Change token of the next page; opaque.
    package var token: String
    package var moreComing: Bool
    package var epoch: String
    /// Nil from a cloud whose zones have no identity.
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

package struct PushResult: Hashable, Sendable {
    package var key: RecordKey
    /// Nil if the cloud accepted the record.
    package var failure: SyncFailure?
    /// The cloud's record after the merge, if it differs from the one sent.
    package var merged: SyncRecord?

    package init(key: RecordKey, failure: SyncFailure? = nil, merged: SyncRecord? = nil) {
        self.key = key
        self.failure = failure
        self.merged = merged
    }
}

package struct PushOutcome: Hashable, Sendable {
    package var results: [PushResult]
    /// The cloud's wall clock when it answered, milliseconds since 1970.
    package var serverTime: UInt64

    package init(results: [PushResult], serverTime: UInt64) {
        self.results = results
        self.serverTime = serverTime
    }
}

package struct CloudAccount: Hashable, Sendable {
    package var zone: String
    package var host: HostID
    package var hostName: String
    package var serverTime: UInt64
    package var epoch: String
    /// `keep` or `strict` (defined in LeaseCore).
    package var policy: String
    /// Nil from a cloud whose zones have no identity.
    package var zoneID: String?
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
