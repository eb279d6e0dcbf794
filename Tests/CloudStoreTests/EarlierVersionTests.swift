import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import Foundation
import MeterTestKit
import StoreTestKit
import Testing

/// Files that programs of earlier versions have really written.
struct EarlierVersionTests {
    private static let meter = "02:00:00:00:25:0C"
    private static let epoch = "56d8e417-bcc1-40b6-a8d2-98eaf9dd4c09"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/metercloud-b2dd1a7.sql")
        try FileManager.default.createDirectory(atPath: folder.cloud, withIntermediateDirectories: true)
        try folder.file.create(from: file)
    }

    @Test func file_isBroughtAlong_withAllThatItHeld() async throws {
        let engine = try folder.openCloud()

        #expect(try await engine.check() == [])
        #expect(engine.epoch == Self.epoch)
        let zones = try await engine.zones()
        #expect(zones.map(\.name) == ["home", "lab"])
        #expect(Set(zones.map(\.id)).count == 2, "each has an identity")
        #expect(zones.first?.terms == .standard)
        #expect(zones.first?.quota == .standard)
        #expect(try await engine.credentials(in: "home").map(\.label).sorted() == ["attic", "bench", "first"])
        #expect(try await engine.credentials(in: nil).allSatisfy { $0.role == .full })
        let settings = try await engine.record(RecordKey(type: .deviceSettings, name: Self.meter), in: "home")
        #expect(settings?.properties["name"]?.value == .string("Desk"))
        #expect(try await engine.usage(of: "home").total.records == 4)
        #expect(try await engine.usage(of: "home").total.bytes > 500)
    }

    @Test func lease_goesOn_andItsTokensRise() async throws {
        let engine = try folder.openCloud(now: .origin)
        let lease = try #require(try await engine.lease(of: Self.meter, in: "home"))
        #expect(lease.token.rawValue == 3)
        #expect(lease.holder?.hostName == "attic")
        #expect(!lease.isOver(at: .origin + .seconds(134)), "who had it counts as having renewed it just then")
        let request = LeaseAcquire(
            requestID: .numbered(7), host: .numbered(7), hostName: "new", session: .numbered(7), previousSession: nil,
            timeToLive: .seconds(120), transport: .usb, policy: .keep)
        let circumstances = LeaseCircumstances(
            now: .origin + .seconds(136), wallNow: Sample.now, terms: .standard)

        let answer = try await engine.decideLease(of: Self.meter, in: "home") {
            LeaseRules.acquire(request, of: $0, in: circumstances)
        }

        guard case .granted(let granted) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(granted.token.rawValue == 4)
    }

    /// Hosts of that version have tokens without a zone's identity.
    @Test func tokens_ofThatVersion_areGood() async throws {
        let engine = try folder.openCloud()
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
