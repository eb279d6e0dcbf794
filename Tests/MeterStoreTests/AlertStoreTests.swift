import Domain
import GRDB
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
            try AlertParser.pattern("temperature rate > 2°C/min"), of: .one, name: "hot", notify: ["phone"])
        try first.close()

        let second = try MeterStore.open(path: folder.store)

        #expect(try await second.alerts() == [StoredAlert(rule)])
        #expect(try await second.quickCheck() == [])
    }

    /// A rule that only a newer version understands is listed as broken, and stays.
    @Test func strangeRule_isBroken() async throws {
        let first = try MeterStore.open(path: folder.store)
        let rule = try await first.addAlert(try AlertParser.pattern("stale"), of: .one, name: nil, notify: [])
        try first.close()
        try folder.file.edit(
            "INSERT INTO alert (meter, condition, notify, is_raised) VALUES ('\(MeterID.one)', 'moon is full', '', 1)")

        let second = try MeterStore.open(path: folder.store)

        let broken = AlertRule(
            id: AlertID(rawValue: 2), meter: .one, pattern: AlertPattern(.broken, text: "moon is full"))
        #expect(try await second.alerts() == [StoredAlert(rule), StoredAlert(broken)])
    }

    /// Rows as meterd wrote them up to b410e6d6, whose table `alert` was today's: conditions as typed, with or without
    /// units.
    @Test func conditionsWithoutUnits_getThem_whenOpened() async throws {
        let texts = [
            ("current < 50", "current < 50A"), ("temperature rate > 2/min", "temperature rate > 2°C/min"),
            ("power > 10W hysteresis 1", "power > 10W hysteresis 1W"), ("voltage > 5.5V", "voltage > 5.5V"),
        ]
        try MeterStore.open(path: folder.store).close()
        for (text, _) in texts {
            try folder.file.edit(
                "INSERT INTO alert (meter, condition, notify) VALUES ('\(MeterID.one)', '\(text)', 'phone')")
        }
        try folder.file.edit("DELETE FROM grdb_migrations WHERE identifier = '20 units in alerts'")

        let store = try MeterStore.open(path: folder.store)

        #expect(try await store.alerts().map(\.rule.pattern) == texts.map { try AlertParser.pattern($0.1) })
        try store.close()
        let stored = try await DatabaseQueue(path: folder.store).read { db in
            try String.fetchAll(db, sql: "SELECT condition FROM alert ORDER BY id")
        }
        #expect(stored == texts.map(\.1))
    }
}
