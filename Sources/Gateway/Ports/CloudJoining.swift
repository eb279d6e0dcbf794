package import GatewayAPI

/// Membership of a cloud, as people ask for it: who belongs where is known to the program that puts the parts together.
package protocol CloudJoining: Sendable {
    /// Shows the token, keeps the membership over restarts, and begins to sync and to lease.
    ///
    /// - Throws: with the cloud's own words; nothing has changed then.
    func join(_ request: CloudJoinRequest) async throws(GatewayError) -> CloudStatus
    /// Releases every lease, forgets the membership, and goes on alone. Settings stay. Harmless when alone already.
    func leave() async throws(GatewayError) -> CloudStatus
    func status() async -> CloudStatus
    /// Shuts another host of the cloud out for good.
    ///
    /// - Parameter host: its id, or its name where one host alone has it.
    func retire(_ host: String) async throws(GatewayError) -> RetiredHost
}
