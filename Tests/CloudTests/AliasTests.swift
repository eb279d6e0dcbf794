import CloudAPI
import Domain
import MeterTestKit
import Testing

@testable import Cloud

/// Two ids of one meter, as hosts see them through the cloud.
struct AliasTests {
    private static let cable = "usb:2e3c:0049:0042"

    private func modify(
        _ cloud: TestCloud, _ records: [SyncRecord], by host: Principal
    ) async throws -> [ModifyAnswer.Result] {
        try await cloud.service.modify(ModifyRequest(records: records), in: "home", by: host).results
    }

    private func alias(_ cloud: TestCloud) -> SyncRecord {
        SyncRecord(
            key: RecordKey(type: .meterAlias, name: Self.cable),
            properties: ["meter": Register(value: .string(TestCloud.meter), stamp: cloud.stamp())])
    }

    @Test func meters_becomeOne_onlyWhileTheOtherIsFree() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let lease = try await cloud.acquire(host, Self.cable)

        let held = try await modify(cloud, [alias(cloud)], by: host)
        _ = try await cloud.release(host, lease)
        let free = try await modify(cloud, [alias(cloud)], by: host)
        let redirected = try await cloud.acquire(host, Self.cable, request: 2)

        #expect(held.first?.error?.code == .leaseHeld)
        #expect(held.first?.error?.message.contains("Host 1") == true)
        #expect(free.first?.error == nil)
        #expect(redirected.meter == TestCloud.meter)
        #expect(redirected.token > lease.token)
    }

    @Test func release_andRevocation_goToTheMeter_underItsOtherId() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        _ = try await modify(cloud, [alias(cloud)], by: one)
        var lease = try await cloud.acquire(one)
        lease.meter = Self.cable

        let revoked = try await cloud.service.revoke(meter: Self.cable, in: "home", by: two)
        let released = try await cloud.release(one, lease)

        #expect(revoked.state == "revoking")
        #expect(released.state == "free")
        #expect(released.meter == TestCloud.meter)
    }

    @Test func queue_isTheMeters_underAnyId() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let events = try await cloud.service.events(in: "home", by: two)
        _ = try await modify(cloud, [alias(cloud)], by: one)
        _ = try await cloud.acquire(one)

        let queued = try await cloud.service.enqueue(meter: Self.cable, in: "home", by: two)
        let left = try await cloud.service.leaveQueue(meter: Self.cable, in: "home", by: two)

        #expect(queued.meter == TestCloud.meter)
        #expect(queued.waiting == ["Host 2"])
        #expect(left.waiting.isEmpty)
        _ = events
    }

    @Test func whoWaitsForAnId_waitsForTheMeter_onceItIsOne() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let events = try await cloud.service.events(in: "home", by: two)
        let lease = try await cloud.acquire(one, Self.cable)
        _ = try await cloud.service.enqueue(meter: Self.cable, in: "home", by: two)
        _ = try await cloud.acquire(one, session: 2, request: 2)
        _ = try await cloud.release(one, lease)

        _ = try await modify(cloud, [alias(cloud)], by: one)
        await cloud.service.settleQueue(of: MeterPlace(zone: "home", meter: Self.cable))

        let list = try await cloud.service.leases(in: "home", by: one).leases
        #expect(list.map(\.meter) == [TestCloud.meter])
        #expect(list.first?.waiting == ["Host 2"])
        _ = events
    }

    @Test func deletingAnAlias_isRefused_whileItsMeterIsHeld() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        _ = try await modify(cloud, [alias(cloud)], by: host)
        let lease = try await cloud.acquire(host)

        _ = await expectFailure(.leaseHeld) {
            try await cloud.service.deleteRecord(type: "MeterAlias", name: Self.cable, in: "home")
        }
        _ = try await cloud.release(host, lease)
        _ = try await cloud.service.deleteRecord(type: "MeterAlias", name: Self.cable, in: "home")

        #expect(try await cloud.acquire(host, Self.cable, request: 3).meter == Self.cable)
    }
}
