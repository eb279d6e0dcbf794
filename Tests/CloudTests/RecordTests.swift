import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

struct RecordTests {
    private func modify(
        _ cloud: TestCloud, _ records: [SyncRecord], by host: Principal
    ) async throws -> [ModifyAnswer.Result] {
        try await cloud.service.modify(ModifyRequest(records: records), in: "home", by: host).results
    }

    @Test func record_isSeenByTheOtherHost() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let record = cloud.record(TestCloud.meter)

        let results = try await modify(cloud, [record], by: one)
        let page = try await cloud.service.changes(
            type: "DeviceSettings", since: nil, limit: nil, in: "home", by: two)

        #expect(results == [ModifyAnswer.Result(type: "DeviceSettings", name: TestCloud.meter)])
        #expect(page.records == [record])
        #expect(try await page.epoch == cloud.engine.epoch)
        let next = try await cloud.service.changes(
            type: "DeviceSettings", since: page.changeToken, limit: nil, in: "home", by: two)
        #expect(next.records.isEmpty)
        #expect(!next.moreComing)
    }

    @Test func merged_isAnswered_whereItIsNotWhatWasSent() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let newer = cloud.record(TestCloud.meter, value: 2, after: 5)

        _ = try await modify(cloud, [newer], by: host)
        let older = try await modify(cloud, [cloud.record(TestCloud.meter)], by: host)
        let same = try await modify(cloud, [newer], by: host)

        #expect(older.first?.merged == newer)
        #expect(same.first?.merged == nil)
    }

    @Test func stampInAnothersName_isTaken_andTheBringerIsSaid() async throws {
        let cloud = try await TestCloud()
        let (bench, attic) = (try await cloud.join(1), try await cloud.join(2))
        let forged = cloud.record(TestCloud.meter, host: 1)

        _ = try await modify(cloud, [forged.brought(by: .numbered(7))], by: attic)
        _ = try await modify(cloud, [forged], by: bench)
        let page = try await cloud.service.changes(
            type: "DeviceSettings", since: nil, limit: nil, in: "home", by: bench)

        #expect(page.records == [forged])
        #expect(page.records.first?.properties["name"]?.broughtBy == .numbered(2))
    }

    @Test func hostsRecord_isTakenFromThatHostAlone_whileItIsEnrolled() async throws {
        let cloud = try await TestCloud()
        let (bench, attic) = (try await cloud.join(1), try await cloud.join(2))
        let id = HostID.numbered(1).description
        let own = cloud.record(id, type: .host, value: 1)
        _ = try await modify(cloud, [own], by: bench)

        let copy = cloud.record(id, type: .host, value: 2, after: 5)
        let deletion = SyncRecord(key: copy.key, deletion: Deletion(stamp: cloud.stamp(9)))
        let refused = try await modify(cloud, [copy, deletion, own], by: attic)

        #expect(refused.map(\.error) == [nil, nil, nil])
        #expect(refused.map(\.merged) == [own, own, nil])
        #expect(try await cloud.service.record(type: "Host", name: id, in: "home") == own)
        try await cloud.service.revokeCredential(bench.credential.id)
        _ = try await modify(cloud, [copy], by: attic)
        #expect(try await cloud.service.record(type: "Host", name: id, in: "home") == copy)
    }

    @Test func hostThatMayOnlyLook_changesItsOwnHostRecord_andNoOther() async throws {
        let cloud = try await TestCloud()
        let (looker, bench) = (try await cloud.join(1, as: .readOnly), try await cloud.join(2))
        let meter = cloud.record(TestCloud.meter, value: 1, host: 2)
        _ = try await modify(cloud, [meter], by: bench)
        let (id, other) = (HostID.numbered(1).description, HostID.numbered(2).description)
        let own = cloud.record(id, type: .host)

        let results = try await modify(
            cloud,
            [
                cloud.record(TestCloud.meter, value: 2, after: 5), own, cloud.record(other, type: .host),
                SyncRecord(key: meter.key, deletion: Deletion(stamp: cloud.stamp(9))),
                cloud.record("11:22:33:44:55:66", type: .meterAlias), cloud.record("\(id)/1", type: .recording),
                cloud.record("x", type: RecordType(rawValue: "Newer")), cloud.record("not a meter"),
            ], by: looker)

        #expect(
            results.map(\.error?.code) == [
                .readOnly, nil, .readOnly, .readOnly, .readOnly, .readOnly, .readOnly, .badRequest,
            ])
        #expect(results[0].error?.message.contains("metercloud token create") == true)
        #expect(results.allSatisfy { $0.merged == nil })
        #expect(try await cloud.service.records(in: "home", type: nil) == [meter, own])
    }

    @Test func badRecords_areRefusedOneByOne_andTheOthersAreTaken() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let long = String(repeating: "x", count: SettingValue.stringBytesMax + 1)
        func bad(_ value: SettingValue) -> SyncRecord {
            SyncRecord(
                key: RecordKey(type: .deviceSettings, name: TestCloud.meter),
                properties: ["p": Register(value: value, stamp: cloud.stamp())])
        }

        let results = try await modify(
            cloud,
            [
                cloud.record("AA:BB:CC:DD:EE:01"), bad(.double(.nan)), bad(.string(long)), cloud.record("not a meter"),
                cloud.record("00:00:00:00:00:00"), cloud.record("x", type: RecordType(rawValue: "")),
                SyncRecord(key: RecordKey(type: .host, name: "empty")),
                cloud.record("later", type: .host, after: 60_001),
                cloud.record("AA:BB:CC:DD:EE:02"), cloud.record("unknown", type: RecordType(rawValue: "Newer")),
            ], by: host)

        let codes = results.map(\.error?.code)
        let bads = [CloudErrorCode?](repeating: .badRequest, count: 6)
        #expect(codes == [nil] + bads + [.clockSkew, nil, nil])
        #expect(try await cloud.service.records(in: "home", type: nil).count == 3)
    }

    @Test func batch_isRefused_whenTooLong() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let records = (0...CloudLimits.recordsPerBatch).map { cloud.record("h\($0)", type: .host) }

        _ = await expectFailure(.limitExceeded) { try await modify(cloud, records, by: host) }

        #expect(try await modify(cloud, records.dropLast(), by: host).allSatisfy { $0.error == nil })
    }

    @Test func name_isFolded_whenItHasAnOlderForm() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let stored = cloud.record(TestCloud.meter, value: 1)
        let old = cloud.record("aa-bb-cc-dd-ee-ff", value: 2, after: 1)

        let results = try await modify(cloud, [stored, old], by: host)

        #expect(results.map(\.error) == [nil, nil])
        let canonical = try await cloud.service.record(type: "DeviceSettings", name: "aabbccddeeff", in: "home")
        #expect(canonical?.properties["name"]?.value == .int(2))
        #expect(canonical?.key.name == TestCloud.meter)
        #expect(results[1].merged?.key == old.key)
        #expect(results[1].merged?.deletion?.mergedInto == TestCloud.meter)
    }

    @Test func deletion_ofAnOlderForm_isNotFolded() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let key = RecordKey(type: .deviceSettings, name: "aabbccddeeff")
        let stored = cloud.record(TestCloud.meter)

        _ = try await modify(cloud, [stored], by: host)
        _ = try await modify(cloud, [SyncRecord(key: key, deletion: Deletion(stamp: cloud.stamp(9)))], by: host)

        #expect(try await cloud.service.record(type: "DeviceSettings", name: TestCloud.meter, in: "home") == stored)
    }

    @Test func recording_isWrittenByItsHostAlone_butPassedOnAndDeletedByAny() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let name = "\(HostID.numbered(1))/\(TestCloud.meter)/7/1795000000000"
        let own = cloud.record(name, type: .recording, host: 1)
        let forged = cloud.record(name, type: .recording, value: 2, after: 1, host: 2)

        let results = try await modify(cloud, [own, forged, cloud.record("x", type: .recording)], by: one)
        let passedOn = try await modify(cloud, [own], by: two)
        let deletion = SyncRecord(key: own.key, deletion: Deletion(stamp: cloud.stamp(2, host: 2)))
        let deleted = try await modify(cloud, [deletion], by: two)

        #expect(results.map(\.error?.code) == [nil, .badRequest, .badRequest])
        #expect(passedOn.map(\.error) == [nil])
        #expect(deleted.map(\.error) == [nil])
    }

    @Test(arguments: ["", "v2.memory.1", "v1.memory", "v1.memory.x"])
    func changes_areRefused_whenTheTokenIsNone(text: String) async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)

        _ = await expectFailure(.badRequest) {
            try await cloud.service.changes(type: "Host", since: text, limit: nil, in: "home", by: host)
        }
    }

    @Test func changes_sayThePresentEpoch_whenTheTokenIsOfAnother() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)

        let failure = await expectFailure(.changeTokenExpired) {
            try await cloud.service.changes(type: "Host", since: "v1.older.0", limit: nil, in: "home", by: host)
        }

        #expect(try await failure?.content.epoch == cloud.engine.epoch)
    }

    @Test(arguments: [(0, nil), (-1, nil), (1, 1), (401, 400)])
    func pages_haveALimit(wish: Int, length: Int?) async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        for part in 0..<2 {
            _ = try await modify(
                cloud, (0..<CloudLimits.recordsPerBatch).map { cloud.record("h\(part)-\($0)", type: .host) }, by: host)
        }

        guard let length else {
            _ = await expectFailure(.badRequest) {
                try await cloud.service.changes(type: "Host", since: nil, limit: wish, in: "home", by: host)
            }
            return
        }
        let page = try await cloud.service.changes(type: "Host", since: nil, limit: wish, in: "home", by: host)

        #expect(page.records.count == length)
        #expect(page.moreComing)
    }
}
