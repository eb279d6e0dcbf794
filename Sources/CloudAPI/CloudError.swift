/// Why the cloud did not do what it was asked (Docs/Sync.md#errors). The raw value is what JSON carries.
package enum CloudErrorCode: String, Codable, Hashable, Sendable, CaseIterable {
    /// 401: no token, or one that is unknown or revoked.
    case notAuthenticated
    /// 403: the token is good, and for something else.
    case permissionDenied
    /// 404.
    case zoneNotFound
    /// 410: another epoch, or below the floor of purged tombstones. The body carries the store's epoch.
    case changeTokenExpired
    /// 410: the store went back behind the token, so that it lacks changes that the host has seen. The body carries the
    /// store's epoch and the zone's identity. The host fetches everything anew and pushes everything that it has.
    case timelineLost
    /// 410: the token belongs to another zone. The body carries the store's epoch and the identity of this zone.
    case anotherZone
    /// 413: more records or bytes than one request may have.
    case limitExceeded
    /// 429, with `retryAfter`.
    case rateLimited
    /// 503, perhaps with `retryAfter`.
    case serviceUnavailable
    /// Per record: the zone, or this host's share of it, has no room for what the record adds. Nothing else of the batch is
    /// concerned, and what needs no more room is always taken.
    case quotaExceeded
    /// Per record: a stamp too far ahead. The result carries the cloud's time.
    case clockSkew
    /// 400, and per record.
    case badRequest
    /// 409: somebody else has it, and the body says who.
    case leaseHeld
    /// Per lease of a renewal; 409 elsewhere.
    case leaseLost
    /// 404: no such route or thing.
    case notFound
    /// 409: a host id that another machine registered.
    case duplicateHost
    /// 500: see the server's log.
    case internalError
}

/// The body of every answer with a status of 400 or above: `{"error":{…}}`.
package struct CloudErrorBody: Codable, Hashable, Sendable {
    package struct Content: Codable, Hashable, Sendable {
        package var code: CloudErrorCode
        /// What failed, with which value, and what to do.
        package var message: String
        /// Seconds.
        package var retryAfter: Double?
        /// With `changeTokenExpired`, `timelineLost` and `anotherZone`: the store's present epoch, so that a host knows
        /// a restore from a purge.
        package var epoch: String?
        /// With the same codes: the identity of the zone that was asked.
        package var zoneID: String?
        /// With `leaseHeld`: who has it, null where nobody does yet (reserved, restoring).
        package var lease: LeaseBody?
        /// With `leaseHeld`: `held`, `revoking`, `reserved`, `restoring`, `released` or `exhausted`.
        package var reason: String?

        package init(code: CloudErrorCode, message: String, retryAfter: Double? = nil) {
            self.code = code
            self.message = message
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
    /// Of the program.
    package var version: String
    /// What somebody ought to see to although the cloud works, in words.
    package var warning: String?

    package init(status: String, version: String, warning: String? = nil) {
        self.status = status
        self.version = version
        self.warning = warning
    }
}
