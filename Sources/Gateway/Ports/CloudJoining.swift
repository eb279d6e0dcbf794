package import GatewayAPI

package protocol CloudJoining: Sendable {
    /// Presents the token, stores the membership, and starts sync and leases. After the cloud's error, nothing has
    /// changed.
    func join(_ request: CloudJoinRequest) async throws(GatewayError) -> CloudStatus
    /// Releases every lease and forgets the membership; settings stay. Harmless without a membership.
    func leave() async throws(GatewayError) -> CloudStatus
    func status() async -> CloudStatus
    /// Excludes another host from the cloud for good. `host` is its id, or a name that only one host has.
    func retire(_ host: String) async throws(GatewayError) -> RetiredHost
}
