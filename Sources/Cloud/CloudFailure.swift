package import CloudAPI
import Domain

/// Why the cloud refuses a request, or fails. Sent to the host as a `CloudErrorBody`.
package struct CloudFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: CloudErrorCode
    /// What failed, with which value, and what to do.
    package var message: String
    package var retryAfter: Duration?
    /// With `changeTokenExpired`, `timelineLost` and `anotherZone`: the store's present epoch.
    package var epoch: String?
    /// With the same codes: the identity of the requested zone.
    package var zoneID: String?
    /// With `leaseHeld`: the present lease, if anybody has the meter.
    package var lease: LeaseBody?
    /// With `leaseHeld`: the reason (`LeaseAnswer.Refusal.Reason`).
    package var reason: String?

    package init(_ code: CloudErrorCode, _ message: String, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    package var description: String { message }

    /// The part that is sent.
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
