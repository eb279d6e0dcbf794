import Cloud
import CloudStore
import Domain
import MeterTestKit
import Testing

struct SQLiteCloudEngineTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: CloudEngineContract.clauses)
    func engine_keepsTheContract(_ clause: ContractClause<any CloudEngine>) async throws {
        try await clause.check(try folder.openCloud())
    }
}
