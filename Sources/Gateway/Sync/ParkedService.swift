import Domain
package import GatewayAPI

/// Lists what is not synced, and restores or drops it for a person (`meterctl sync parked`). Also for a host that has
/// left its cloud.
package struct ParkedService: Sendable {
    private let repository: any SyncRepository
    private let settings: SettingsService

    /// The most entries that an answer lists.
    package static let limit = 10_000

    package init(repository: any SyncRepository, settings: SettingsService) {
        self.repository = repository
        self.settings = settings
    }

    /// The parked entries, latest first.
    package func entries() async throws(GatewayError) -> [ParkedEntry] {
        try await settings.asking("reading what is parked") { [repository] in
            try await repository.parked(limit: Self.limit)
        }
    }

    /// - Returns: number of properties added to the outbox.
    /// - Throws: `notFound`, and `refused` if all of it is older than the present values or still cannot be kept.
    package func restore(_ id: String) async throws(GatewayError) -> Int {
        let restored = try await settings.asking("restoring \(id)") { [repository] in
            try await repository.restoreParked(id)
        }
        switch restored {
        case .unknown: throw Self.unknown(id)
        case .nothing(let why):
            throw GatewayError(
                .refused, "nothing of \(id) can be restored: \(why)", next: "meterctl sync parked drop \(id)")
        case .restored(let properties, let outcome):
            await settings.restored(outcome)
            return properties
        }
    }

    package func drop(_ id: String) async throws(GatewayError) {
        let isDone = try await settings.asking("dropping \(id)") { [repository] in try await repository.dropParked(id) }
        guard isDone else { throw Self.unknown(id) }
        settings.changes.mark(.host)
    }

    private static func unknown(_ id: String) -> GatewayError {
        GatewayError(.notFound, "nothing parked is called \(id)", next: "meterctl sync parked")
    }
}
