import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
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

    private func create(_ numbers: Range<Int>, at engine: EtcdCloudEngine) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for number in numbers {
                let own = UInt64(number)
                let request = LeaseAcquire(
                    requestID: .numbered(own), host: .numbered(own), hostName: "h", session: .numbered(own),
                    timeToLive: .seconds(120), transport: .usb)
                let circumstances = LeaseCircumstances(now: .origin, wallNow: now, terms: .standard)
                group.addTask {
                    let answer = try? await engine.decideLease(of: "m\(number)", in: zone) {
                        LeaseRules.acquire(request, of: $0, in: circumstances)
                    }
                    return answer != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    /// Leases from before there was a limit are counted with the next that is created.
    @Test func twoCopies_countLeasesTogether_thoseOfOlderCopiesToo() async throws {
        let server = try EtcdServer.started()
        let (one, two) = (
            try await EtcdCloudEngine.open(server.settings), try await EtcdCloudEngine.open(server.settings)
        )
        _ = try await one.createZone(zone, terms: .standard)
        try await one.setQuota(ZoneQuota(zone: ZoneQuota.standard.zone, leases: 100), of: zone)
        #expect(await create(0..<30, at: one) == 30)
        _ = try await one.client.commit(EtcdTransaction(success: [.delete(key: one.keys.leaseCount(zone))]))
        #expect(try await two.leaseCount(of: zone) == 30)

        async let left = create(100..<160, at: one)
        async let right = create(200..<260, at: two)
        let created = await left + right

        #expect(created == 70)
        #expect(try await two.leases(in: zone).count == 100)
        #expect(try await one.leaseCount(of: zone) == 100)
        // What exists is not refused by a copy that has not seen it.
        #expect(await create(0..<30, at: two) == 30)
        await one.close()
        await two.close()
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
