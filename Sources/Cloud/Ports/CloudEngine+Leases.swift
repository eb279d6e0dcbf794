package import LeaseCore

extension CloudEngine {
    /// The lease of a meter, by any of its ids. nil where there never was one.
    package func lease(of meter: String, in zone: String) async throws -> LeaseRecord? {
        try await standing(of: meter, in: zone).record
    }
}
