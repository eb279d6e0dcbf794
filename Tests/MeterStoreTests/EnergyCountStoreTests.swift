import Domain
import Gateway
import MeterStore
import MeterTestKit
import Testing

/// What is counted for meters that count no energy, over restarts.
struct EnergyCountStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: EnergyCountRepositoryContract.clauses)
    func store_keepsTheContract(_ clause: EnergyCountRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store))
    }

    @Test func counts_areThere_whenOpenedAgain() async throws {
        let first = try MeterStore.open(path: folder.store)
        let count = EnergyCount(
            energy_Wh: 1.25, charge_mAh: 250, seconds: 60, since: WallTime(millisecondsSince1970: 5))
        try await first.append([], keeping: [.one: count])
        try first.close()

        let second = try MeterStore.open(path: folder.store)

        #expect(try await second.energyCounts() == [.one: count])
    }
}
