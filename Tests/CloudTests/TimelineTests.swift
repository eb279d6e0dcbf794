import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Logging
import MeterTestKit
import Testing

struct TimelineTests {
    @Test func firstLostToken_isLoggedAsAnError_once() async throws {
        let cloud = try await TestCloud()
        let book = LogBook()
        let service = CloudService(
            engine: cloud.engine, clock: cloud.time.clock, rng: SeededRNG(seed: 1), logger: book.logger)
        let host = try await cloud.join(1)
        let id = try #require(try await cloud.engine.zone("home")).id
        let token = "v2.\(id).\(try await cloud.engine.epoch).9.1f.7.7.."

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
