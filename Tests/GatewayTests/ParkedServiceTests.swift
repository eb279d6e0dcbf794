import Domain
import Gateway
import GatewayAPI
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// What a person does with what is not synced.
struct ParkedServiceTests {
    private let records = MeterStore.temporary()
    private let service: ParkedService

    init() {
        service = ParkedService(
            repository: records,
            settings: SettingsService(
                repository: records,
                now: { HostMoment(wall: WallTime(millisecondsSince1970: 1_795_000_000_000), sinceBoot: .origin) },
                logger: LogBook().logger))
    }

    /// Nothing is said to be gone that was never there.
    @Test func drop_takesWhatIsThere_once() async throws {
        let stamp = Stamp(milliseconds: 1, counter: 0, host: HostID(high: 1, low: 1))
        let record = SyncRecord(
            key: RecordKey(
                type: .deviceSettings, name: String(repeating: "x", count: SyncRecord.nameBytesMax + 1)),
            properties: ["a": Register(value: .int(1), stamp: stamp)])
        let page = ChangesPage(type: .deviceSettings, records: [record], token: "t", moreComing: false, epoch: "e")
        _ = try await records.apply(page)
        let id = try #require(try await service.entries().first?.id)

        try await service.drop(id)

        #expect(try await service.entries().isEmpty)
        let failure = await #expect(throws: GatewayError.self) { try await service.drop(id) }
        #expect(failure?.code == .notFound)
    }
}
