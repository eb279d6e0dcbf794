import Domain
import Gateway
import MeterStore
import MeterTestKit
import Testing

struct SettingsContractTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: SettingsRepositoryContract.clauses)
    func store_keepsTheSettingsContract(_ clause: SettingsRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store, options: .init(machine: .here)))
    }

    @Test(arguments: SyncRepositoryContract.clauses)
    func store_keepsTheSyncContract(_ clause: SyncRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store, options: .init(machine: .here)))
    }
}
