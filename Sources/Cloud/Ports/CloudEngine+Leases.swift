package import Domain

extension CloudEngine {
    /// Returns a lease under any id of the meter. Nil if the meter was never leased.
    package func lease(of meter: String, in zone: String) async throws -> LeaseRecord? {
        try await standing(of: meter, in: zone).record
    }
}
