package import GatewayAPI

package protocol CloudJoining: Sendable {
    /// Joins with the request's enrolment or access token, stores the membership, and starts sync and leases. An error
    /// of the cloud changes nothing.
    func join(_ request: CloudJoinRequest) async throws(GatewayError) -> CloudStatus
    /// Releases every lease and deletes the membership, but keeps settings. Harmless without a membership.
    func leave() async throws(GatewayError) -> CloudStatus
    func status() async -> CloudStatus
    /// Excludes another host from the cloud permanently. `host` is its id, or its name if unique.
    func retire(_ host: String) async throws(GatewayError) -> RetiredHost
}
