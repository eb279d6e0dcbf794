package import Domain

extension CloudEngine {
    package func createZone(_ name: String, terms: LeaseTerms) async throws -> Zone {
        try await createZone(name, id: nil, terms: terms)
    }

    package func add(_ credential: Credential) async throws { try await add(credential, showing: []) }
}
