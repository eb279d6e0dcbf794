import Domain
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

struct AlertStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: AlertRepositoryContract.clauses)
    func store_keepsTheAlertContract(_ clause: AlertRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store))
    }

    @Test func rules_areThere_whenOpenedAgain() async throws {
        let first = try MeterStore.open(path: folder.store)
        let rule = try await first.addAlert(
            try AlertParser.pattern("temperature rate > 2/min"), of: .one, name: "hot", notify: ["phone"])
        try first.close()

        let second = try MeterStore.open(path: folder.store)

        #expect(try await second.alerts() == [StoredAlert(rule)])
        #expect(try await second.quickCheck() == [])
    }

    /// A rule that only a newer version understands is left out, and stays.
    @Test func strangeRule_isLeftOut() async throws {
        let first = try MeterStore.open(path: folder.store)
        let rule = try await first.addAlert(try AlertParser.pattern("stale"), of: .one, name: nil, notify: [])
        try first.close()
        try folder.file.edit(
            "INSERT INTO alert (meter, condition, notify) VALUES ('\(MeterID.one)', 'moon is full', '')")

        let second = try MeterStore.open(path: folder.store)

        #expect(try await second.alerts() == [StoredAlert(rule)])
    }
}
