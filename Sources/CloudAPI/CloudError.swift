import Domain

/// Why the cloud refused a request, or failed (Docs/Sync.md#errors). The raw value is what JSON carries.
package enum CloudErrorCode: String, Codable, Hashable, Sendable, CaseIterable {
    /// 401: no token, or one that is unknown or revoked.
    case notAuthenticated
    /// 403: the token is valid, but not for this.
    case permissionDenied
    /// 403, or for a record: the token is of a host that may only look, and this changes something. Halts nothing.
    case readOnly
    /// 404.
    case zoneNotFound
    /// 410: another epoch, or below the floor of purged tombstones. The body carries the store's epoch.
    case changeTokenExpired
    /// 410: the store went back behind the token, so that it lacks changes that the host has seen. The body carries the
    /// store's epoch and the zone's identity. The host fetches everything again and pushes everything it has.
    case timelineLost
    /// 410: the token belongs to another zone. The body carries the store's epoch and the identity of this zone.
    case anotherZone
    /// 413: more records or bytes than one request may have.
    case limitExceeded
    /// 429, with `retryAfter`.
    case rateLimited
    /// 503, perhaps with `retryAfter`.
    case serviceUnavailable
    /// For a record: the zone, or this host's share of it, has no room for what the record adds. The rest of the batch
    /// is not affected, and changes that need no more room are always accepted.
    case quotaExceeded
    /// For a record: a stamp too far ahead. The result carries the cloud's time.
    case clockSkew
    /// 400, or for a record.
    case badRequest
    /// 409: another host has the meter, and the body says which.
    case leaseHeld
    /// For a lease in a renewal; 409 elsewhere.
    case leaseLost
    /// 404: no such route or object.
    case notFound
    /// 409: a host id that another machine registered.
    case duplicateHost
    /// 500: see the server's log.
    case internalError
}

/// The body of every response with a status of 400 or above: `{"error":{…}}`.
package struct CloudErrorBody: Codable, Hashable, Sendable {
    package struct Content: Codable, Hashable, Sendable {
        package var code: CloudErrorCode
        /// What failed, with which value, and what to do.
        package var message: String
        /// Seconds.
        package var retryAfter: Double?
        /// With `changeTokenExpired`, `timelineLost` and `anotherZone`: the store's present epoch, so that a host can
        /// tell a restore from a purge.
        package var epoch: String?
        /// With the same codes: the identity of the requested zone.
        package var zoneID: String?
        /// With `leaseHeld`: the present lease; null if nobody has the meter (reserved, restoring).
        package var lease: LeaseBody?
        /// With `leaseHeld`: `held`, `revoking`, `reserved`, `restoring`, `released` or `exhausted`.
        package var reason: String?

        package init(code: CloudErrorCode, message: String, retryAfter: Double? = nil) {
            self.code = code
            self.message = message.bounded
            self.retryAfter = retryAfter
        }
    }

    package var error: Content

    package init(_ error: Content) { self.error = error }
}

/// `GET /v1/health`: the cloud answers, and so does its store.
package struct HealthBody: Codable, Hashable, Sendable {
    /// `ok`.
    package var status: String
    /// The program's version.
    package var version: String
    /// What needs attention although the cloud works, in words.
    package var warning: String?

    package init(status: String, version: String, warning: String? = nil) {
        self.status = status
        self.version = version
        self.warning = warning
    }
}
