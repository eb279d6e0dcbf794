package import LeaseCore

extension CloudEngine {
    /// Makes a zone with an identity of its own, or returns the one that is there, as it is.
    package func createZone(_ name: String, terms: LeaseTerms) async throws -> Zone {
        try await createZone(name, id: nil, terms: terms)
    }
}
