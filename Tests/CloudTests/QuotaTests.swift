import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

struct QuotaTests {
    private static let key = RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:FF")

    private func stamp(_ milliseconds: UInt64, host: UInt64 = 1) -> Stamp {
        Stamp(milliseconds: milliseconds, counter: 0, host: .numbered(host))
    }

    // MARK: Leases

    /// What is refused has the form of a lease that somebody has: a host of any version stops there.
    @Test func inventedMeters_fillNoZone() async throws {
        let cloud = try await TestCloud()
        try await cloud.engine.setQuota(ZoneQuota(zone: QuotaAmount(bytes: 1 << 20, records: 10)), of: "home")
        let (host, other) = (try await cloud.join(1), try await cloud.join(2))
        for number in 1...2500 {
            let lease = try await cloud.acquire(host, "usb:0483:5740:\(number)", request: UInt64(number))
            _ = try await cloud.release(host, lease)
        }

        let failure = await expectFailure(.leaseHeld) { try await cloud.acquire(host, "usb:0483:5740:x", request: 1) }

        #expect(failure?.reason == "exhausted" && failure?.lease == nil)
        #expect(failure?.message.hasPrefix("this host made 2500 of the leases of the zone home, of at") == true)
        #expect(try await cloud.engine.leases(in: "home").count == 2500)
        #expect(try await cloud.acquire(host, "usb:0483:5740:7", request: 9999).token == 2)
        #expect(try await cloud.acquire(other, "usb:0483:5740:x", request: 2).token == 1)
    }

    /// One for every second record, and never so many that they fill a store by themselves.
    @Test func standardLimitOfLeases_followsTheRecords_withinBounds() {
        let limits = [0, 20_001, 50_000, 200_000, .max].map {
            ZoneQuota(zone: QuotaAmount(bytes: 0, records: $0)).leaseLimit
        }

        #expect(limits == [10_000, 10_000, 25_000, 100_000, 100_000])
        #expect(ZoneQuota(zone: .zero, leases: 3_000_000).leaseLimit == 3_000_000)
    }

    // MARK: What counts

    @Test func record_countsItsNamesAndValues_and64ForEachPart() {
        let record = SyncRecord(
            key: Self.key,
            properties: [
                "note": Register(value: .string("über"), stamp: stamp(3)),
                "limit": Register(value: .double(0.5), stamp: stamp(2)),
            ], deletion: Deletion(stamp: stamp(1), mergedInto: "xyz"))

        // DeviceSettings 14, its name 17; note 4 and 5; limit 5 and 8; mergedInto 3.
        #expect(ZoneUsage(of: record).total == QuotaAmount(bytes: 4 * 64 + 14 + 17 + 9 + 13 + 3, records: 1))
        #expect(ZoneUsage(of: nil) == ZoneUsage())
    }

    @Test func parts_countForWhoWroteAndBroughtThem_andTheRecordForTheNewest() {
        let record = SyncRecord(
            key: Self.key,
            properties: [
                "a": Register(value: .int(1), stamp: stamp(1, host: 1)),
                "b": Register(value: .int(1), stamp: stamp(2, host: 2)),
                "c": Register(value: .int(1), stamp: stamp(1, host: 3), broughtBy: .numbered(1)),
            ])
        let part = 64 + 1 + 8

        let usage = ZoneUsage(of: record)

        #expect(usage.hosts[.numbered(1)] == QuotaAmount(bytes: part, records: 0))
        #expect(usage.hosts[.numbered(2)] == QuotaAmount(bytes: 64 + 14 + 17 + part, records: 1))
        #expect(usage.hosts.count == 2)
        #expect(usage.total == QuotaAmount(bytes: 64 + 14 + 17 + 3 * part, records: 1))
    }

    @Test func administratorsDeletion_isNobodysShare() {
        let nobody = Stamp(milliseconds: 5, counter: 0, host: HostID(high: 0, low: 0))

        #expect(ZoneUsage(of: SyncRecord(key: Self.key, deletion: Deletion(stamp: nobody))).hosts.isEmpty)
    }

    /// Whoever deletes needs no room, whatever is in the record.
    @Test(arguments: [SettingValue.null, .bool(true), .int(1), .string(""), .string("x")])
    func deletion_ofALiveRecord_neverNeedsMore(value: SettingValue) {
        let live = SyncRecord(key: Self.key, properties: ["": Register(value: value, stamp: stamp(1))])
        let gone = live.merged(with: SyncRecord(key: Self.key, deletion: Deletion(stamp: stamp(2, host: 2))))

        let change = ZoneUsage.change(from: live, to: gone)

        #expect(change.total.bytes <= 0)
        #expect(change.total.records == 0)
    }

    @Test func countedByChanges_isCountedAnew_inAnyOrder() {
        var rng = SeededRNG(seed: 7)
        for _ in 0..<50 {
            var stored: [RecordKey: SyncRecord] = [:]
            var usage = ZoneUsage()
            for _ in 0..<60 {
                let incoming = Self.random(&rng)
                let old = stored[incoming.key]
                let new = old?.merged(with: incoming) ?? incoming
                usage.add(.change(from: old, to: new))
                stored[incoming.key] = new
            }
            var expected = ZoneUsage()
            for record in stored.values { expected.add(ZoneUsage(of: record)) }
            #expect(usage == expected)
            for record in stored.values { usage.add(.change(from: record, to: nil)) }
            #expect(usage == ZoneUsage())
        }
    }

    private static func random(_ rng: inout SeededRNG) -> SyncRecord {
        func below(_ bound: UInt64) -> UInt64 { rng.next() % bound }
        let key = RecordKey(type: .deviceSettings, name: "m\(below(5))")
        var properties: [String: Register] = [:]
        for _ in 0..<below(3) {
            properties["p\(below(4))"] = Register(
                value: .string(String(repeating: "x", count: Int(below(50)))),
                stamp: Stamp(milliseconds: below(40), counter: 0, host: .numbered(below(4))),
                broughtBy: below(3) == 0 ? .numbered(9) : nil)
        }
        let deletion = Deletion(
            stamp: Stamp(milliseconds: below(40), counter: 0, host: .numbered(below(4))),
            broughtBy: below(3) == 0 ? .numbered(9) : nil)
        return SyncRecord(key: key, properties: properties, deletion: below(4) == 0 ? deletion : nil)
    }

    @Test(arguments: [Int.min, -1, Int.max])
    func counterOfADamagedStore_neverTraps(number: Int) {
        let amount = QuotaAmount(bytes: number, records: number)
        var usage = ZoneUsage(total: amount, hosts: [.numbered(1): amount])
        let record = SyncRecord(key: Self.key, properties: ["a": Register(value: .int(1), stamp: stamp(1))])

        usage.add(ZoneUsage(of: record))
        let excess = usage.excess(adding: ZoneUsage(of: record), under: .standard)

        #expect((excess != nil) == (number == .max))
    }

    // MARK: What hosts are told

    private func modify(
        _ cloud: TestCloud, _ records: [SyncRecord], by host: Principal
    ) async throws -> [ModifyAnswer.Result] {
        try await cloud.service.modify(ModifyRequest(records: records), in: "home", by: host).results
    }

    private func quota(zone: Int, host: Int) -> ZoneQuota {
        ZoneQuota(zone: QuotaAmount(bytes: 1 << 20, records: zone), host: QuotaAmount(bytes: 1 << 20, records: host))
    }

    @Test func refusal_namesTheLimit_whatIsUsed_andWhatToDo() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        try await cloud.service.setQuota(quota(zone: 2, host: 1), of: "home")

        let own = try await modify(
            cloud, ["00:00:00:00:00:01", "00:00:00:00:00:02"].map { cloud.record($0) }, by: host)
        let others = try await modify(
            cloud, ["00:00:00:00:00:03", "00:00:00:00:00:04"].map { cloud.record($0, host: 2) }, by: host)

        #expect(own.map(\.error?.code) == [nil, .quotaExceeded])
        #expect(
            own.last?.error?.message
                == "this host's share of the zone home has 1 of 1 records, and 00:00:00:00:00:02 needs 1 more; delete what "
                + "is not needed, or have the limit raised on the cloud's machine: metercloud zone set home --host-records N"
        )
        #expect(others.map(\.error?.code) == [nil, .quotaExceeded])
        #expect(
            others.last?.error?.message
                == "the zone home has 2 of 2 records, and 00:00:00:00:00:04 needs 1 more; delete what is not needed, or "
                + "have the limit raised on the cloud's machine: metercloud zone set home --max-records N")
    }

    /// After a restore, one host brings back a zone that is full of what others wrote.
    @Test func restoredZone_isBroughtBack_byOneHostWhoseShareIsFull() async throws {
        let cloud = try await TestCloud()
        let bringer = try await cloud.join(1)
        try await cloud.service.setQuota(quota(zone: 40, host: 10), of: "home")
        let all = (0..<40).map { cloud.record("00:00:00:00:00:\(10 + $0)", host: UInt64(1 + $0 % 4)) }

        let results = try await modify(cloud, all, by: bringer)

        #expect(results.allSatisfy { $0.error == nil })
        #expect(try await cloud.engine.usage(of: "home").hosts.mapValues(\.records) == [.numbered(1): 10])
    }

    /// What an older host sends under an older form of a name is kept under that name until there is room for it under the
    /// canonical one: its tombstone is not written before.
    @Test func oldName_isNotTakenAway_whereTheCanonicalOneHasNoRoom() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let old = SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "aa-bb-cc-dd-ee-ff"),
            properties: ["name": Register(value: .string(String(repeating: "x", count: 500)), stamp: cloud.stamp())])
        // As an older version of the cloud left it.
        _ = try await cloud.engine.modify([old], in: "home", now: cloud.time.wallNow)
        let used = try await cloud.engine.usage(of: "home").total
        try await cloud.service.setQuota(
            ZoneQuota(
                zone: QuotaAmount(bytes: used.bytes, records: 10), host: QuotaAmount(bytes: 1 << 20, records: 10)),
            of: "home")

        let refused = try await modify(cloud, [old], by: host)
        #expect(refused.map(\.error?.code) == [.quotaExceeded])
        #expect(try await cloud.engine.record(old.key, in: "home") == old)

        try await cloud.service.setQuota(.standard, of: "home")
        let taken = try await modify(cloud, [old], by: host)
        #expect(taken.map(\.error) == [nil])
        #expect(try await cloud.engine.record(old.key, in: "home")?.isTombstone == true)
        #expect(try await cloud.engine.record(Self.key, in: "home")?.properties["name"] == old.properties["name"])
    }
}
