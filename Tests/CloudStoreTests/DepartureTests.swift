import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import MeterTestKit
import Testing

/// A store that everything leaves for another one.
struct DepartureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func departed() async throws -> SQLiteCloudEngine {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        _ = try await engine.modify(
            [Sample.record("m1"), Sample.record("m2"), Sample.tombstone("m3")], in: "home", now: Sample.now)
        _ = try await engine.acquire(Sample.acquire(1))
        _ = try await engine.acquire(Sample.acquire(1), meter: "B")
        try await engine.depart(to: "etcd (http://a:1)", at: Sample.now)
        return engine
    }

    @Test func departedStore_isOpenedByNobody_butForAnotherAttempt() async throws {
        let engine = try await departed()
        try engine.close()

        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud() }

        #expect(error?.code == .departed)
        #expect(
            error?.message.contains("moved to etcd (http://a:1) on \(Sample.now), and this file is the past") == true)
        var options = SQLiteCloudEngine.Options()
        options.opensDeparted = true
        let again = try folder.openCloud(options: options)
        #expect(try await again.contents().destination == "etcd (http://a:1)")
        try again.close()
    }

    @Test func pages_haveEverythingOnce() async throws {
        let engine = try await departed()

        let first = try await engine.leases(in: "home", after: nil, limit: 1)
        let second = try await engine.leases(in: "home", after: first[0].meter, limit: 5)
        #expect((first + second).map(\.meter) == [Sample.meter, "B"])
        #expect(try await engine.leases(in: "home", after: "B", limit: 5).isEmpty)
        var names: [String] = []
        var sequence: UInt64 = 0
        while let page = try await engine.records(in: "home", after: sequence, limit: 1).first {
            #expect(page.sequence > sequence)
            #expect((page.tombstoneTime != nil) == (page.record.key.name == "m3"))
            sequence = page.sequence
            names.append(page.record.key.name)
        }
        #expect(names == ["m1", "m2", "m3"])
        try engine.close()
    }

    @Test func contents_areThoseOfAnEmptyStore_atFirst() async throws {
        let engine = try folder.openCloud()
        let contents = try await engine.contents()
        #expect(contents.tokenFloor == FencingToken(rawValue: 0))
        #expect(!contents.isRestoring)
        #expect(contents.zones.isEmpty && contents.destination == nil)
        try engine.close()
    }

    @Test func directory_isFreeForANewCloud_onceTheStoreIsAside() async throws {
        for number in 0..<2 {
            try await departed().close()
            let aside = try SQLiteCloudEngine.setAsideDeparted(directory: folder.cloud, at: Sample.now)
            #expect(aside == "\(folder.store).moved-\(1_795_000_000 + number)", "the earlier one stays")
        }
        let engine = try folder.openCloud()
        #expect(try await engine.zones().isEmpty)
        try engine.close()
    }

    @Test func departedFile_canBeginANewCloud() async throws {
        let engine = try await departed()
        let epoch = engine.epoch
        try engine.close()
        let aside = try #require(try SQLiteCloudEngine.setAsideDeparted(directory: folder.cloud, at: Sample.now))
        #expect(aside == "\(folder.store).moved-1795000000")
        #expect(!folder.exists(folder.store))
        var rng = CountingRNG(last: 100)

        let report = try CloudRestore.run(from: aside, into: folder.cloud, at: Sample.now, rng: &rng)

        #expect((report.records, report.leases) == (3, 2))
        let restored = try folder.openCloud()
        #expect(restored.epoch != epoch)
        #expect(try await restored.contents().destination == nil)
        try restored.close()
    }
}
