package import CloudAPI
import MeterModel

/// Why the cloud does not do what it was asked. Travels to the host as a `CloudErrorBody`.
package struct CloudFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: CloudErrorCode
    /// What failed, with which value, and what to do.
    package var message: String
    package var retryAfter: Duration?
    /// With `changeTokenExpired`, `timelineLost` and `anotherZone`: the store's present one.
    package var epoch: String?
    /// With the same codes: the identity of the zone that was asked.
    package var zoneID: String?
    /// With `leaseHeld`: who has it, nil where nobody does yet.
    package var lease: LeaseBody?
    /// With `leaseHeld`: `held`, `revoking`, `reserved` or `restoring`.
    package var reason: String?

    package init(_ code: CloudErrorCode, _ message: String, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    package var description: String { message }

    /// What travels.
    package var content: CloudErrorBody.Content {
        var content = CloudErrorBody.Content(
            code: code, message: message, retryAfter: retryAfter.map { Double($0.milliseconds) / 1000 })
        content.epoch = epoch
        content.zoneID = zoneID
        content.lease = lease
        content.reason = reason
        return content
    }
}
