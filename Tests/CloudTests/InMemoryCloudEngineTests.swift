import Cloud
import CloudAPI
import MeterTestKit
import Testing

struct InMemoryCloudEngineTests {
    @Test(arguments: CloudEngineContract.clauses)
    func engine_keepsTheContract(_ clause: ContractClause<any CloudEngine>) async throws {
        try await clause.check(InMemoryCloudEngine())
    }

    @Test func everyCall_throws_whenToldTo() async throws {
        let engine = InMemoryCloudEngine()
        engine.fail(with: CloudFailure(.serviceUnavailable, "no disk"))

        await #expect(throws: CloudFailure.self) { try await engine.zones() }
        engine.fail(with: nil)

        #expect(try await engine.zones() == [])
    }
}
