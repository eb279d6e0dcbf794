package import GatewayAPI

/// Membership of a cloud, as people ask for it. The program that assembles the parts knows who belongs where.
package protocol CloudJoining: Sendable {
    /// Presents the token, keeps the membership over restarts, and begins to sync and to lease.
    ///
    /// - Throws: in the cloud's own words; nothing has changed then.
    func join(_ request: CloudJoinRequest) async throws(GatewayError) -> CloudStatus
    /// Releases every lease, forgets the membership, and continues alone. Settings stay. Harmless if alone already.
    func leave() async throws(GatewayError) -> CloudStatus
    func status() async -> CloudStatus
    /// Excludes another host from the cloud for good.
    ///
    /// - Parameter host: its id, or its name if only one host has it.
    func retire(_ host: String) async throws(GatewayError) -> RetiredHost
}
