import Domain
package import GatewayAPI

/// Lists, restores and drops parked records, which this host excludes from sync (`meterctl sync parked`). Also works
/// after leaving the cloud.
package struct ParkedService: Sendable {
    private let repository: any SyncRepository
    private let settings: SettingsService

    package static let limit = 10_000

    package init(repository: any SyncRepository, settings: SettingsService) {
        self.repository = repository
        self.settings = settings
    }

    package func entries() async throws(GatewayError) -> [ParkedEntry] {
        try await GatewayError.doing("reading what is parked") {
            try await repository.parked(limit: Self.limit)
        }
    }

    /// - Returns: number of properties added to the outbox.
    /// - Throws: `notFound`; `refused` if every value is older than the present one or is still excluded from sync.
    package func restore(_ id: String) async throws(GatewayError) -> Int {
        let restored = try await GatewayError.doing("restoring \(id)") {
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
        let isDone = try await GatewayError.doing("dropping \(id)") { try await repository.dropParked(id) }
        guard isDone else { throw Self.unknown(id) }
        settings.changes.mark(.host)
    }

    private static func unknown(_ id: String) -> GatewayError {
        GatewayError(.notFound, "nothing parked is called \(id)", next: "meterctl sync parked")
    }
}
