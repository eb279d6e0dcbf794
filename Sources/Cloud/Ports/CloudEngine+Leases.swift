package import Domain

extension CloudEngine {
    /// Returns the meter's lease, found by any of its ids. Nil if the meter was never leased.
    package func lease(of meter: String, in zone: String) async throws -> LeaseRecord? {
        try await standing(of: meter, in: zone).record
    }
}
