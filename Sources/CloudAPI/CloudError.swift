import Domain

/// Error codes of the cloud (Docs/Sync.md#errors); the raw value is in the JSON.
package enum CloudErrorCode: String, Codable, Hashable, Sendable, CaseIterable {
    /// 401: no access token, or an unknown or revoked one.
    case notAuthenticated
    /// 403: the access token does not allow this.
    case permissionDenied
    /// 403, or the result for a record: a host with a read-only access token requested a change. Its sync continues.
    case readOnly
    /// 404.
    case zoneNotFound
    /// 410: the change token is from another epoch, or older than tombstones purged since. Also a change token of the
    /// first form (`v1`) that is newer than anything in the zone.
    case changeTokenExpired
    /// 410: the store was reset to a state older than the change token. The host fetches everything again and pushes
    /// everything it has.
    case timelineLost
    /// 410: the change token belongs to another zone.
    case anotherZone
    /// 413: more records or bytes than one request may have.
    case limitExceeded
    /// 429, with `retryAfter`.
    case rateLimited
    /// 503, possibly with `retryAfter`.
    case serviceUnavailable
    /// Result for a record: the zone, or this host's share of it, has no room for the addition. Changes that need no
    /// more room are always accepted.
    case quotaExceeded
    /// Result for a record: the stamp of a change is too far ahead of the cloud's system clock.
    case clockSkew
    /// Malformed request (400), or malformed record (the record's result).
    case badRequest
    /// 409, with the lease.
    case leaseHeld
    /// Result for a lease in a renewal; 409 for other requests.
    case leaseLost
    /// 404: the route, or what the request names, does not exist.
    case notFound
    /// 409: another machine registered this host id.
    case duplicateHost
    /// 500: the cloud failed; see its log.
    case internalError
}

/// Body of every response with a status of 400 or above: `{"error":{…}}`.
package struct CloudErrorBody: Codable, Hashable, Sendable {
    package struct Content: Codable, Hashable, Sendable {
        package var code: CloudErrorCode
        package var message: String
        /// Time to wait before a retry, in seconds.
        package var retryAfter: Double?
        /// Present epoch of the store, only for `changeTokenExpired`, `timelineLost` and `anotherZone`. For
        /// `changeTokenExpired`, another epoch than the change token's means a restored backup; the same epoch means
        /// purged tombstones.
        package var epoch: String?
        /// Identity of the requested zone, for the same codes as `epoch`.
        package var zoneID: String?
        /// Present lease, only for `leaseHeld`; null if nobody holds the meter (reserved, restoring).
        package var lease: LeaseBody?
        /// `held`, `revoking`, `reserved`, `restoring`, `released` or `exhausted`; only for `leaseHeld`.
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

/// Answer to `GET /v1/health`.
package struct HealthBody: Codable, Hashable, Sendable {
    /// Always `ok`.
    package var status: String
    package var version: String
    /// A problem that needs attention although the cloud works.
    package var warning: String?

    package init(status: String, version: String, warning: String? = nil) {
        self.status = status
        self.version = version
        self.warning = warning
    }
}
