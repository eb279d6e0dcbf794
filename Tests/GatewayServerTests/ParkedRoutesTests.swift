import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterStore
import MeterTestKit
import Testing

struct ParkedRoutesTests {
    private let bench = ServerBench()

    private func request(_ method: HTTPRequest.Method, _ rest: String = "") async throws -> Answer {
        let parked = ParkedService(repository: bench.store, settings: bench.settings)
        return try await bench.request(method, "/v1/sync/parked\(rest)", nil, with: [ParkedRoutes(parked: parked)])
    }

    /// Another host's record that the cloud no longer lists.
    private func setAside() async throws {
        let stamp = Stamp(milliseconds: 1, counter: 0, host: HostID(high: 2, low: 2))
        let key = RecordKey(type: .deviceSettings, name: MeterID.mac(MACAddress(bits: 1)).description)
        let record = SyncRecord(key: key, properties: ["name": Register(value: .string("Desk"), stamp: stamp)])
        func page(_ records: [SyncRecord]) -> ChangesPage {
            ChangesPage(type: .deviceSettings, records: records, token: "t", moreComing: false, epoch: "e")
        }
        _ = try await bench.store.apply(page([record]))
        try await bench.store.beginRefetch(of: .deviceSettings)
        _ = try await bench.store.apply(page([]))
    }

    @Test func entries_areListedWithTheirReasons() async throws {
        try await setAside()
        let entries = try await request(.get).decode(ParkedBody.self).entries
        #expect(entries.map(\.reason) == [.unlisted])
        #expect(entries.first?.values.keys.sorted() == ["name"])
        #expect(entries.first?.own == false)
    }

    @Test func restore_waitsToBeTold() async throws {
        try await setAside()
        let id = try await request(.get).decode(ParkedBody.self).entries[0].id
        #expect(try await request(.post, "/\(id)/restore").decode(ParkedAnswer.self).properties == 1)
        #expect(try await bench.store.progress().pending == 1)
        #expect(try await request(.get).decode(ParkedBody.self).entries.isEmpty)
    }

    @Test func drop_isForGood() async throws {
        try await setAside()
        let id = try await request(.get).decode(ParkedBody.self).entries[0].id
        #expect(try await request(.delete, "/\(id)").status == 200)
        #expect(try await bench.store.progress().parked == 0)
        #expect(try await request(.delete, "/\(id)").status == 404)
    }

    @Test func unknownEntry_isNamed() async throws {
        let answer = try await request(.post, "/a99/restore")
        #expect(answer.status == 404)
        #expect(answer.error?.message == "nothing parked is called a99")
    }
}
