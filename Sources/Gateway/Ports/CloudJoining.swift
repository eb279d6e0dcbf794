package import GatewayAPI

package protocol CloudJoining: Sendable {
    /// Joins the cloud with the request's enrolment or access token, stores the membership, and starts sync and leases.
    /// If the cloud returns an error, nothing changes.
    func join(_ request: CloudJoinRequest) async throws(GatewayError) -> CloudStatus
    /// Releases every lease and deletes the membership, but keeps settings. Harmless without a membership.
    func leave() async throws(GatewayError) -> CloudStatus
    func status() async -> CloudStatus
    /// Excludes another host from the cloud permanently. `host` is its id, or its name if no other host has the same
    /// name.
    func retire(_ host: String) async throws(GatewayError) -> RetiredHost
}
