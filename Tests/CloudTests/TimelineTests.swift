import Cloud
import CloudAPI
import CoreTestKit
import LeaseCore
import Logging
import MeterModel
import MeterTestKit
import SettingsCore
import Testing

struct TimelineTests {
    private static let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private static func record(_ name: String) -> SyncRecord {
        let stamp = Stamp(milliseconds: UInt64(now.millisecondsSince1970), counter: 0, host: .numbered(1))
        return SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: ["a": Register(value: .int(1), stamp: stamp)])
    }

    private static func write(_ name: String, to engine: InMemoryCloudEngine) async throws -> ChangeToken {
        _ = try await engine.modify([record(name)], in: "home", now: now)
        return try await engine.changes(of: .deviceSettings, in: "home", after: nil, limit: 1).token
    }

    @Test func tokensOfTheLostFuture_areLost_alsoAfterOthersWrotePastThem() async throws {
        let engine = InMemoryCloudEngine()
        _ = try await engine.createZone("home", terms: .standard)
        _ = try await Self.write("m", to: engine)
        let back = InMemoryCloudEngine(copyOf: engine, seed: 2)
        var lost: [ChangeToken] = []
        for number in 0..<3 { lost.append(try await Self.write("lost \(number)", to: engine)) }

        for number in 0..<6 {
            for token in lost {
                let failure = await #expect(throws: CloudFailure.self) {
                    try await back.changes(of: .deviceSettings, in: "home", after: token, limit: 9)
                }
                #expect(failure?.code == .timelineLost)
            }
            _ = try await Self.write("new \(number)", to: back)
        }
    }

    @Test func firstLostToken_isLoggedAsAnError_once() async throws {
        let cloud = try await TestCloud()
        let book = LogBook()
        let service = CloudService(
            engine: cloud.engine, clock: cloud.time.clock, rng: SeededRNG(seed: 1), logger: book.logger)
        let host = try await cloud.join(1)
        let id = try #require(try await cloud.engine.zone("home")).id
        let token = "v2.\(id).memory.9.1f.7.7.."

        for _ in 0..<3 {
            let failure = await #expect(throws: CloudFailure.self) {
                try await service.changes(type: "Host", since: token, limit: nil, in: "home", by: host)
            }
            #expect(failure?.content.code == .timelineLost)
            #expect(failure?.content.zoneID == id.description)
        }

        #expect(book.entries.filter { $0.level == .error }.count == 1)
    }

    @Test func identity_isInAccountAndPages_andStays() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let id = try #require(try await cloud.engine.zone("home")).id.description

        try await cloud.service.createZone(
            "home", ZoneRequest(zoneID: "00000000-0000-4000-8000-000000000001"), by: host)

        #expect(try await cloud.service.account(of: host).zoneID == id)
        let page = try await cloud.service.changes(type: "Host", since: nil, limit: nil, in: "home", by: host)
        #expect(page.zoneID == id)
        let failure = await #expect(throws: CloudFailure.self) {
            try await cloud.service.createZone("home", ZoneRequest(zoneID: "home"), by: host)
        }
        #expect(failure?.code == .badRequest)
    }

    @Test(arguments: ["v2.z.e.1.f.3.2..", "v2.z.e.0.0.3.2.616263.7", "v1.e.3", "v1.e.3.616263", "v1.e.3..7"])
    func token_isWrittenAsItIsRead(text: String) throws {
        #expect(try #require(ChangeToken(text)).description == text)
    }

    @Test(arguments: [
        "v2.z.e.1.f.3.2", "v2.z.e.1.f.3.2...", "v2..e.1.f.3.2..", "v2.z..1.f.3.2..", "v2.z.e.-1.f.3.2..",
        "v2.z.e.1.x.3.2..", "v2.z.e.1.f.3.2.6.", "v2.z.e.1.f.3.2..x", "v3.e.1", "v1.e.3..", "v1.e.3.616263.", "",
    ])
    func token_isNone_whenAPartIsWrong(text: String) { #expect(ChangeToken(text) == nil) }
}
