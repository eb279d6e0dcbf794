package import LeaseCore

extension CloudEngine {
    /// Creates a zone with a random identity, or returns an existing one unchanged.
    package func createZone(_ name: String, terms: LeaseTerms) async throws -> Zone {
        try await createZone(name, id: nil, terms: terms)
    }
}
