package import CloudAPI
package import LeaseCore

/// Why the cloud does not do what it was asked. Travels to the host as a `CloudErrorBody`.
package struct CloudFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package var code: CloudErrorCode
    /// What failed, with which value, and what to do.
    package var message: String
    package var retryAfter: Duration?
    /// With `changeTokenExpired`.
    package var epoch: String?
    /// With `leaseHeld`.
    package var refusal: LeaseAnswer.Refusal?

    package init(_ code: CloudErrorCode, _ message: String, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    package var description: String { message }
}
