/// Why a call to the cloud failed, as far as that decides what to do next (Docs/Sync.md#errors).
package struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case notAuthenticated
        case permissionDenied
        /// This host may only look; given for single records, in a batch's results, and for calls that change something.
        case readOnly
        case zoneNotFound
        /// `epoch`, the store's present one, tells a restore (another epoch) from a purge (the same one). `zoneID` is
        /// the identity of the zone that was asked, if the cloud gives zones one.
        case changeTokenExpired(epoch: String, zoneID: String? = nil)
        /// The cloud's store went back: it lacks changes that this host has seen.
        case timelineLost(epoch: String, zoneID: String? = nil)
        /// The token belongs to another zone than the one that was asked.
        case anotherZone(epoch: String, zoneID: String? = nil)
        case limitExceeded
        case rateLimited
        case serviceUnavailable
        /// The zone, or this host's share of it, has no room for what a record adds; given for single records, in a
        /// batch's results.
        case quotaExceeded
        /// A stamp is too far ahead; given for single records, in a batch's results.
        case clockSkew
        case badRequest
        /// An alias needs a meter to be free that somebody holds; given for single records, in a batch's results.
        case leaseHeld
        /// The cloud could not be reached, or the connection broke; nobody knows whether the call was carried out.
        case network
        /// The cloud is not the one that was joined: its certificate has another fingerprint.
        case wrongCertificate
        /// Any other answer of the cloud.
        case other
    }

    package var kind: Kind
    /// What failed, and with which value; at most 2,000 bytes.
    package var message: String
    /// The wait that the cloud asked for.
    package var retryAfter: Duration?

    /// Whether the cloud, or its store, may have had too little time for what was asked.
    var isNoAnswer: Bool { kind == .network || kind == .serviceUnavailable }

    package init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = message.bounded
        self.retryAfter = retryAfter
    }

    package var description: String { message }
}
