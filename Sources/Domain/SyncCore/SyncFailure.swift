/// Failure of a cloud call, classified by the next step (Docs/Sync.md#errors).
package struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case notAuthenticated
        case permissionDenied
        /// This host is read-only. Reported per record, and for calls that make a change.
        case readOnly
        case zoneNotFound
        /// `epoch` is the store's present epoch: a restore changes it, a purge does not. `zoneID` is the identity of
        /// the requested zone; nil if the cloud's zones have none.
        case changeTokenExpired(epoch: String, zoneID: String? = nil)
        /// The cloud's store was rolled back: it lacks changes that this host has seen.
        case timelineLost(epoch: String, zoneID: String? = nil)
        /// The change token is for another zone.
        case anotherZone(epoch: String, zoneID: String? = nil)
        case limitExceeded
        case rateLimited
        case serviceUnavailable
        /// The zone, or this host's share of it, has no room for the record. Reported per record.
        case quotaExceeded
        /// The stamp is too far ahead of the cloud's clock. Reported per record.
        case clockSkew
        case badRequest
        /// The alias cannot be written while a host holds the meter's lease. Reported per record.
        case leaseHeld
        /// The cloud was unreachable or the connection broke. The call may have taken effect.
        case network
        /// The cloud's certificate has another fingerprint than when this host joined.
        case wrongCertificate
        case other
    }

    package var kind: Kind
    /// Description of the failure, with the value; at most 2,000 bytes.
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
