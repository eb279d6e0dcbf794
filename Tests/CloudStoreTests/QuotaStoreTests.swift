import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import GRDB
import MeterTestKit
import Testing

/// What a zone has used, over starts and from older versions.
struct QuotaStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeCloud() async throws -> ZoneUsage {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        _ = try await engine.createZone("empty", terms: .standard)
        let forged = Sample.record("forged", value: 3).brought(by: .numbered(2))
        let batch = [Sample.record("m1"), Sample.record("m2"), Sample.tombstone("m2", after: 1), forged]
        _ = try await engine.modify(batch, in: "home", now: Sample.now)
        let usage = try await engine.usage(of: "home")
        try engine.close()
        #expect(usage.total.records == 3)
        #expect(usage.hosts[.numbered(1)]?.records == 2)
        return usage
    }

    @Test func usageAndLimits_areKept_overAStart() async throws {
        let usage = try await makeCloud()
        let four = QuotaAmount(bytes: 9000, records: 4)
        let quota = ZoneQuota(zone: four, host: four)
        var engine = try folder.openCloud()
        try await engine.setQuota(quota, of: "home")
        try engine.close()

        engine = try folder.openCloud()

        #expect(try await engine.usage(of: "home") == usage)
        #expect(try await engine.zones().map(\.quota) == [.standard, quota])
        let outcomes = try await engine.modify(
            [Sample.record("m3"), Sample.record("m4")], in: "home", now: Sample.now)
        #expect(outcomes.map(\.record?.key.name) == ["m3", nil])
    }

    @Test func purge_lowersTheUsage_andTheFileShrinks_andBothAreKept_overAStart() async throws {
        var engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        let gone = (0..<200).map { Sample.tombstone("gone \($0)") }
        _ = try await engine.modify(gone, in: "home", now: Sample.now)
        _ = try await engine.modify([Sample.record("kept")], in: "home", now: Sample.now)
        let before = try await engine.statistics()

        #expect(try await engine.purgeTombstones(before: Sample.now + .seconds(1)) == 200)

        let usage = try await engine.usage(of: "home")
        #expect(usage == ZoneUsage(of: Sample.record("kept")))
        let after = try await engine.statistics()
        #expect((before.records, after.records) == (201, 1))
        #expect(after.bytes < before.bytes)
        try engine.close()
        engine = try folder.openCloud()
        #expect(try await engine.usage(of: "home") == usage)
        #expect(try await engine.statistics().bytes < before.bytes)
        try engine.close()
    }

    @Test func storeOfAVersionWithoutQuotas_isCounted_whenItIsOpened() async throws {
        let usage = try await makeCloud()
        let queue = try DatabaseQueue(path: folder.store)
        try await queue.write { db in
            try db.execute(sql: "DROP TABLE usage")
            for column in ["bytes_max", "records_max", "host_bytes_max", "host_records_max"] {
                try db.execute(sql: "ALTER TABLE zone DROP COLUMN \(column)")
            }
            try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = '4 quotas'")
        }
        try queue.close()

        let engine = try folder.openCloud()

        #expect(try await engine.usage(of: "home") == usage)
        #expect(try await engine.usage(of: "empty") == ZoneUsage())
        #expect(try await engine.zones().map(\.quota) == [.standard, .standard])
    }

    @Test func statistics_haveEachZonesUsage() async throws {
        let usage = try await makeCloud()
        let engine = try folder.openCloud()

        for meter in ["a", "b", "c"] { _ = try await engine.acquire(Sample.acquire(1), meter: meter) }
        try await engine.release(FencingToken(rawValue: 1), session: 1, meter: "b")
        #expect(try await engine.statistics().leases == 2)

        let figures = try await engine.statistics().usages

        #expect(figures.map(\.zone) == ["empty", "home"])
        #expect(figures.map(\.used) == [.zero, usage.total])
        #expect(figures.map(\.limit) == [ZoneQuota.standard.zone, ZoneQuota.standard.zone])
    }
}
