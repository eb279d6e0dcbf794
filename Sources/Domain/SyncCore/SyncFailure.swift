/// Failure of a cloud call, classified by the next step (Docs/Sync.md#errors).
package struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case notAuthenticated
        case permissionDenied
        /// This host is read-only. Reported per record and for calls that change something.
        case readOnly
        case zoneNotFound
        /// `epoch`, the store's present one, separates a restore (another epoch) from a purge (the same). `zoneID`
        /// identifies the requested zone, if the cloud gives zones one.
        case changeTokenExpired(epoch: String, zoneID: String? = nil)
        /// The cloud's store went back: it lacks changes that this host has seen.
        case timelineLost(epoch: String, zoneID: String? = nil)
        /// The token belongs to another zone than the requested one.
        case anotherZone(epoch: String, zoneID: String? = nil)
        case limitExceeded
        case rateLimited
        case serviceUnavailable
        /// The zone or this host's share has no room for the record. Reported per record.
        case quotaExceeded
        /// The stamp is too far ahead. Reported per record.
        case clockSkew
        case badRequest
        /// The alias needs a meter to be free that has a holder. Reported per record.
        case leaseHeld
        /// The cloud was unreachable or the connection broke. The call may have taken effect.
        case network
        /// The cloud's certificate has another fingerprint than at the join.
        case wrongCertificate
        case other
    }

    package var kind: Kind
    /// What failed, with the value; at most 2,000 bytes.
    package var message: String
    package var retryAfter: Duration?

    var isNoAnswer: Bool { kind == .network || kind == .serviceUnavailable }

    package init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = message.bounded
        self.retryAfter = retryAfter
    }

    package var description: String { message }
}
