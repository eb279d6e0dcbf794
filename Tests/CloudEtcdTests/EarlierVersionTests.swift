import Cloud
import CloudAPI
import Domain
import Foundation
import Logging
import MeterTestKit
import Testing

@testable import CloudEtcd

/// What copies of earlier versions have really written into an etcd.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EarlierVersionTests {
    private static let server = Result { try EtcdServer.started() }
    private static let meter = "02:00:00:00:25:0C"
    private static let epoch = "a201890b-f480-448e-90d2-1061d979bd3f"

    /// Opens an engine on what a metercloud of commit b2dd1a7 left: two hosts, a held lease whose meter had changed hands
    /// twice, the records of both. Keys and values as `etcdctl get` told them, a byte a character.
    private func withEngine(_ body: (EtcdCloudEngine) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        var settings = try Self.server.get().settings
        settings.prefix = "\(folder.path.replacing("/", with: "-"))/"
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/metercloud-b2dd1a7.json")
        let entries = try JSONDecoder().decode([[String]].self, from: Data(contentsOf: file))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let client = try EtcdClient(settings, clock: .real, logger: logger)
        let puts = entries.map { entry in
            EtcdOperation.put(
                key: Array(entry[0].replacing("metercloud/", with: settings.prefix).utf8),
                value: entry[1].unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        }
        _ = try await client.commit(EtcdTransaction(success: puts))
        await client.shutdown()
        let engine = try await EtcdCloudEngine.open(settings)
        do {
            try await body(engine)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    @Test func store_isServedOn_withAllThatItHeld() async throws {
        try await withEngine { engine in
            #expect(engine.epoch == Self.epoch)
            #expect(try await engine.zones().map(\.name) == ["home"])
            #expect(try await engine.zones().first?.terms == .standard)
            #expect(try await engine.credentials(in: "home").map(\.label).sorted() == ["attic", "bench", "first"])
            #expect(try await engine.credentials(in: nil).allSatisfy { $0.role == .full })
            let settings = try await engine.record(RecordKey(type: .deviceSettings, name: Self.meter), in: "home")
            #expect(settings?.properties["name"]?.value == .string("Desk"))
            #expect(try await engine.usage(of: "home").total.records == 4)
            let lease = try #require(try await engine.lease(of: Self.meter, in: "home"))
            #expect(lease.token.rawValue == 3)
            #expect(lease.holder?.hostName == "attic")
        }
    }

    /// Hosts of that version have tokens without a zone's identity.
    @Test func tokens_ofThatVersion_areGood() async throws {
        try await withEngine { engine in
            func changes(after sequence: UInt64) async throws -> ChangeList {
                let token = try #require(ChangeToken("v1.\(Self.epoch).\(sequence)"))
                return try await engine.changes(of: .deviceSettings, in: "home", after: token, limit: 9)
            }

            #expect(try await changes(after: 5).records == [])
            let missed = try await changes(after: 4)
            #expect(missed.records.map(\.key.name) == [Self.meter])
            #expect(missed.token.description.hasPrefix("v2."))
            let failure = await #expect(throws: CloudFailure.self) { _ = try await changes(after: 8) }
            #expect(failure?.code == .changeTokenExpired)
        }
    }
}
