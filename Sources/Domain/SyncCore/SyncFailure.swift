/// Failure of a cloud call, classified by the next step (Docs/Sync.md#errors).
package struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case notAuthenticated
        case permissionDenied
        /// This host is read-only. Reported per record, and for calls that make a change.
        case readOnly
        case zoneNotFound
        /// The token has expired. `epoch` is the store's present one: a restore changes it, a purge does not. `zoneID`
        /// identifies the requested zone, if the cloud gives zones an identity.
        case changeTokenExpired(epoch: String, zoneID: String? = nil)
        /// The cloud's store was reset to an earlier state: it lacks changes that this host has seen.
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
        /// The alias requires that a meter is free, but the meter has a holder. Reported per record.
        case leaseHeld
        /// The cloud was unreachable or the connection broke. The call may have taken effect.
        case network
        /// The cloud's certificate has a different fingerprint than at the join.
        case wrongCertificate
        case other
    }

    package var kind: Kind
    /// Failed operation with the value; at most 2,000 bytes.
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
