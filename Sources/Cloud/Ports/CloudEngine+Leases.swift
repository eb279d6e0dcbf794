package import Domain

extension CloudEngine {
    /// The lease of a meter, under any of its ids, if there ever was one.
    package func lease(of meter: String, in zone: String) async throws -> LeaseRecord? {
        try await standing(of: meter, in: zone).record
    }
}
