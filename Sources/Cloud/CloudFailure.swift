package import CloudAPI
import Domain

/// A refusal or failure of the cloud, sent to the host as a `CloudErrorBody`.
package struct CloudFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: CloudErrorCode
    /// Description of the failure with the wrong value, and advice.
    package var message: String
    package var retryAfter: Duration?
    /// Present epoch of the store, only for `changeTokenExpired`, `timelineLost` and `anotherZone`.
    package var epoch: String?
    /// Identity of the requested zone, for the same codes as `epoch`.
    package var zoneID: String?
    /// Present lease, only for `leaseHeld`; nil if nobody holds the meter.
    package var lease: LeaseBody?
    /// `LeaseAnswer.Refusal.Reason`, only for `leaseHeld`.
    package var reason: String?

    package init(_ code: CloudErrorCode, _ message: String, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    package var description: String { message }

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
