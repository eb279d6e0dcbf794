/// Why a call to the cloud failed, in the words that decide what to do next (Docs/Sync.md#errors).
package struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case notAuthenticated
        case permissionDenied
        case zoneNotFound
        /// The store's present epoch tells a restore (another epoch) from a purge (the same one). The identity is that of
        /// the zone that was asked; nil from a cloud that has none.
        case changeTokenExpired(epoch: String, zoneID: String? = nil)
        /// The cloud's store went back: it lacks changes that this host has seen.
        case timelineLost(epoch: String, zoneID: String? = nil)
        /// The token belongs to another zone than the one that was asked.
        case anotherZone(epoch: String, zoneID: String? = nil)
        case limitExceeded
        case rateLimited
        case serviceUnavailable
        /// The zone, or this host's share of it, has no room for what a record adds; per record, in a batch's results.
        case quotaExceeded
        /// A stamp too far ahead; per record, in a batch's results.
        case clockSkew
        case badRequest
        /// An alias for which a meter has to be free that somebody holds; per record, in a batch's results.
        case leaseHeld
        /// The cloud could not be reached, or the connection broke: nobody knows whether the call was done.
        case network
        /// The cloud is not the one that was joined: its certificate has another fingerprint.
        case wrongCertificate
        /// Anything else the cloud said.
        case other
    }

    package var kind: Kind
    /// What failed, with which value.
    package var message: String
    /// What the cloud asked for.
    package var retryAfter: Duration?

    package init(_ kind: Kind, _ message: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = message
        self.retryAfter = retryAfter
    }

    package var description: String { message }
}
