import Cloud
import CloudAPI
import CoreTestKit
import LeaseCore
import MeterModel
import MeterTestKit
import SettingsCore
import Testing

@testable import CloudEtcd

/// What a zone has used, with copies of the cloud that know no quotas.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"), .timeLimit(.minutes(10)))
struct EtcdQuotaTests {
    private let zone = "home"
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private func record(_ name: String, host: UInt64 = 1) -> SyncRecord {
        let stamp = Stamp(milliseconds: UInt64(now.millisecondsSince1970), counter: 0, host: .numbered(host))
        return SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: ["a": Register(value: .int(1), stamp: stamp)])
    }

    private func counted(_ engine: EtcdCloudEngine) async throws -> ZoneUsage {
        var usage = ZoneUsage()
        for record in try await engine.records(in: zone, type: nil) { usage.add(ZoneUsage(of: record)) }
        return usage
    }

    /// A copy of an older version writes the head without what it does not know.
    private func writeAsAnOlderCopy(_ engine: EtcdCloudEngine) async throws {
        let key = engine.keys.head(zone)
        let entry = try #require(try await engine.client.read([EtcdRange(key: key)]).ranges[0].entries.first)
        var head = try StoredHead(entry)
        head.used = nil
        let stored = StoredRecord(record: record("older", host: 9), sequence: head.sequence + 1, tombstoneTime: nil)
        head.sequence += 1
        var transaction = EtcdTransaction(success: [.put(key: key, value: try head.bytes)])
        transaction.success += RecordPlan.puts(of: stored, in: zone, engine.keys)
            .map { .put(key: $0.key, value: $0.value) }
        _ = try await engine.client.commit(transaction)
    }

    @Test func zone_isCountedAnew_afterACopyOfAnOlderVersionWrote() async throws {
        let server = try EtcdServer.started()
        let engine = try await EtcdCloudEngine.open(server.settings)
        _ = try await engine.createZone(zone, terms: .standard)
        // Hosts of every first digit, so that every share is there.
        for host in 0..<16 {
            let id = HostID(high: UInt64(host) << 60 | 1, low: 1)
            let stamp = Stamp(milliseconds: UInt64(now.millisecondsSince1970), counter: 0, host: id)
            let one = SyncRecord(
                key: RecordKey(type: .deviceSettings, name: "m\(host)"),
                properties: ["a": Register(value: .int(1), stamp: stamp)])
            _ = try await engine.modify([one], in: zone, now: now)
        }
        #expect(try await engine.usage(of: zone).hosts.count == 16)

        try await writeAsAnOlderCopy(engine)
        #expect(try await engine.statistics().usages.isEmpty)
        _ = try await engine.modify([record("next")], in: zone, now: now)
        #expect(try await engine.usage(of: zone) == counted(engine))
        try await writeAsAnOlderCopy(engine)
        #expect(try await engine.usage(of: zone) == counted(engine))
        #expect(try await engine.statistics().usages.map(\.used.records) == [18])
        await engine.close()
    }

    /// More records than one transaction takes, of a host in each share, written by two copies at once.
    @Test func twoCopies_countTogether() async throws {
        let server = try EtcdServer.started()
        let (one, two) = (
            try await EtcdCloudEngine.open(server.settings), try await EtcdCloudEngine.open(server.settings)
        )
        _ = try await one.createZone(zone, terms: .standard)
        try await one.setQuota(ZoneQuota(zone: QuotaAmount(bytes: 1 << 20, records: 150)), of: zone)
        let first = (0..<100).map { record("a\($0)", host: UInt64($0)) }
        let second = (0..<100).map { record("b\($0)", host: UInt64($0)) }

        async let left = one.modify(first, in: zone, now: now)
        async let right = two.modify(second, in: zone, now: now)
        let fates = try await (left + right).map(\.fate)

        let refused = fates.count { if case .quotaExceeded = $0 { true } else { false } }
        #expect(refused == 50)
        #expect(try await one.usage(of: zone) == counted(two))
        await one.close()
        await two.close()
    }
}
