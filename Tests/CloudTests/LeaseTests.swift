import Cloud
import CloudAPI
import CoreTestKit
import Domain
import FoundationEssentials
import MeterTestKit
import Testing

struct LeaseTests {
    @Test func lease_isToldInFull_andItsSessionToItsHolderAlone() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))

        let own = try await cloud.acquire(one, "aabbccddeeff")
        cloud.time.advance(by: .seconds(20))
        let seen = try await cloud.service.leases(in: "home", by: two).leases.first
        let listed = try await cloud.service.leases(in: "home", by: one).leases.first

        var expected = LeaseBody(
            meter: TestCloud.meter, state: "held", token: 1, ttl: 120_000, lockDelay: 15_000, policy: "keep",
            remaining: 100_000)
        expected.holderID = HostID.numbered(1).description
        expected.holderName = "Host 1"
        expected.transport = "ble"
        expected.acquiredAt = "2026-11-18T11:06:40.000Z"
        expected.expiresAt = "2026-11-18T11:08:40.000Z"
        #expect(seen == expected)
        expected.session = SessionID.numbered(1).description
        #expect(listed == expected)
        #expect(own.session == expected.session)
        #expect(own.remaining == 120_000)
    }

    @Test func acquire_isRefused_withTheHolder() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        _ = try await cloud.acquire(one)

        let failure = await expectFailure(.leaseHeld) { try await cloud.acquire(two, session: 2, request: 2) }

        let content = failure?.content
        #expect(content?.reason == "held")
        #expect(content?.lease?.holderName == "Host 1")
        #expect(content?.lease?.session == nil)
        #expect(content?.retryAfter == 135)
    }

    @Test func acquire_isGranted_onceTheLeaseIsOver() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)

        cloud.time.advance(by: .seconds(120))
        #expect(try await cloud.service.leases(in: "home", by: two).leases.first?.state == "expired")
        _ = await expectFailure(.leaseHeld) { try await cloud.acquire(two, session: 2, request: 2) }
        cloud.time.advance(by: .seconds(15))
        let taken = try await cloud.acquire(two, session: 2, request: 2)

        #expect(taken.token > lease.token)
        #expect(try await cloud.renew(one, lease)?.result == "takenOver")
    }

    @Test func acquire_getsTheSameAnswer_whenRepeated() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)

        let first = try await cloud.acquire(one)
        let again = try await cloud.acquire(one)

        #expect(again == first)
    }

    @Test func renewals_areAnsweredOneByOne() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let lease = try await cloud.acquire(one)
        let gone = try await cloud.acquire(one, "11:22:33:44:55:66", request: 2)
        _ = try await cloud.release(one, gone)
        cloud.time.advance(by: .seconds(60))
        let body = RenewRequest(
            session: SessionID.numbered(1).description,
            leases: [
                .init(meter: gone.meter, token: gone.token), .init(meter: "aabbccddeeff", token: lease.token),
                .init(meter: "22:22:33:44:55:66", token: 1),
            ])

        let results = try await cloud.service.renew(body, in: "home", by: one).results

        #expect(results.map(\.result) == ["released", "renewed", "unknown"])
        #expect(results.map(\.meter) == [gone.meter, TestCloud.meter, "22:22:33:44:55:66"])
        #expect(results[1].lease?.remaining == 120_000)
        #expect(results[2].lease == nil)
    }

    @Test func renewals_areRefused_whenTooMany() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let lease = RenewRequest.Lease(meter: TestCloud.meter, token: 1)
        let body = RenewRequest(
            session: SessionID.numbered(1).description,
            leases: Array(repeating: lease, count: CloudLimits.leasesPerRenewal + 1))

        _ = await expectFailure(.limitExceeded) { try await cloud.service.renew(body, in: "home", by: one) }
    }

    @Test func release_isTerminal_andRepeatable() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)

        let notYours = try await cloud.release(two, lease, session: 2)
        let freed = try await cloud.release(one, lease)
        let again = try await cloud.release(one, lease)

        #expect(notYours.state == "held")
        #expect(freed.state == "free")
        #expect(again.state == "free")
        #expect(try await cloud.renew(one, lease)?.result == "released")
        #expect(try await cloud.acquire(two, session: 2, request: 2).token > lease.token)
    }

    @Test func takeover_isGrantedAtOnce_underKeep() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)

        let taken = try await cloud.acquire(two, session: 2, request: 2, takeover: 1)

        #expect(taken.holderName == "Host 2")
        #expect(try await cloud.renew(one, lease)?.result == "takenOver")
    }

    /// What an old host says may have been meant for another holder: it is told who has the meter.
    @Test func takeoverThatNamesNoGrant_takesFromNobody() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)
        var request = AcquireRequest(
            requestID: RequestID.numbered(2).description, session: SessionID.numbered(2).description, transport: "ble")
        request.takeover = .unnamed(true)
        let asked = request

        let failure = await expectFailure(.leaseHeld) {
            try await cloud.service.acquire(asked, meter: TestCloud.meter, in: "home", by: two)
        }

        #expect(failure?.reason == "held" && failure?.lease?.holderName == "Host 1")
        #expect(failure?.message.contains("update meterd") == true)
        _ = try await cloud.release(one, lease)
        #expect(
            try await cloud.service.acquire(asked, meter: TestCloud.meter, in: "home", by: two).holderName == "Host 2")
    }

    @Test(arguments: [
        (#"{"token":5}"#, TakeoverRequest.of(token: 5)), ("true", .unnamed(true)), ("false", .unnamed(false)),
    ])
    func takeover_isReadAsOldAndNewHostsSayIt(text: String, takeover: TakeoverRequest) throws {
        let read = try JSONDecoder().decode(TakeoverRequest.self, from: Data(text.utf8))

        #expect(read == takeover)
        #expect(String(decoding: try JSONEncoder().encode(takeover), as: UTF8.self) == text)
    }

    /// The answer to a take-over was lost, and its loser took the meter back.
    @Test func repeatedTakeover_isNotDecidedAnew() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        _ = try await cloud.acquire(one)
        _ = try await cloud.acquire(two, session: 2, request: 2, takeover: 1)
        _ = try await cloud.acquire(one, request: 3, takeover: 2)

        let failure = await expectFailure(.leaseHeld) {
            try await cloud.acquire(two, session: 2, request: 2, takeover: 1)
        }

        #expect(failure?.reason == "held" && failure?.lease?.holderName == "Host 1" && failure?.lease?.token == 3)
    }

    @Test func restartOfARevokedHolder_leavesTheMeterToWhoTookItOver() async throws {
        let cloud = try await TestCloud(policy: .strict)
        let one = try await cloud.join(1)
        let two = try await Listener(cloud, 2)
        _ = try await cloud.acquire(one)
        _ = await expectFailure(.leaseHeld) {
            try await cloud.acquire(two.principal, session: 2, request: 2, takeover: 1)
        }
        var restart = AcquireRequest(
            requestID: RequestID.numbered(3).description, session: SessionID.numbered(3).description, transport: "ble")
        restart.previousSession = SessionID.numbered(1).description
        let asked = restart

        let failure = await expectFailure(.leaseHeld) {
            try await cloud.service.acquire(asked, meter: TestCloud.meter, in: "home", by: one)
        }

        #expect(failure?.reason == "reserved")
        #expect(await two.offer()?.meter == TestCloud.meter)
    }

    @Test func meterThatDoesNotRead_isOneRefusal_ofARenewal() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let lease = try await cloud.acquire(one)
        let leases = [
            RenewRequest.Lease(meter: "desk", token: 1), RenewRequest.Lease(meter: lease.meter, token: lease.token),
        ]

        let answer = try await cloud.service.renew(
            RenewRequest(session: SessionID.numbered(1).description, leases: leases), in: "home", by: one)

        #expect(answer.results.map(\.meter) == ["desk", lease.meter])
        #expect(answer.results.map(\.result) == ["unknown", "renewed"])
    }

    @Test func renewal_bringsAStricterPolicy() async throws {
        let cloud = try await TestCloud(policy: .keep)
        let one = try await cloud.join(1)
        let lease = try await cloud.acquire(one)
        try await cloud.service.setTerms(
            LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: .strict), of: "home")

        #expect(try await cloud.renew(one, lease)?.lease?.policy == "strict")
        #expect(try await cloud.service.leases(in: "home").leases.first?.policy == "strict")
    }

    @Test func revoke_stopsTheHolder_andFreesAtItsRelease() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)

        let revoked = try await cloud.service.revoke(meter: "aabbccddeeff", in: "home", by: two)

        #expect(revoked.state == "revoking")
        #expect(try await cloud.renew(one, lease)?.result == "revoking")
        let failure = await expectFailure(.leaseHeld) { try await cloud.acquire(two, session: 2, request: 2) }
        #expect(failure?.reason == "revoking")
        #expect(try await cloud.release(one, lease).state == "free")
    }

    @Test func nothingNew_isGranted_afterARestore() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)

        let restored = try await cloud.restored()

        let other = "11:22:33:44:55:66"
        let failure = await expectFailure(.leaseHeld) { try await restored.acquire(two, other, session: 2, request: 2) }
        #expect(failure?.reason == "restoring")
        #expect(try await restored.renew(one, lease)?.result == "renewed")
        let floor = FencingToken.floor(ofRestoreAt: cloud.time.wallNow)
        cloud.time.advance(by: .seconds(675))
        #expect(try await restored.acquire(two, other, session: 2, request: 2).token == floor.rawValue)
    }

    @Test(arguments: ["", "00:00:00:00:00:00", "desk", String(repeating: "usb:", count: 200)])
    func meter_isRefused_whenItIsNone(meter: String) async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)

        _ = await expectFailure(.badRequest) { try await cloud.acquire(one, meter) }
    }

    @Test func acquire_isRefused_whenItDoesNotRead() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let good = AcquireRequest(
            requestID: RequestID.numbered(1).description, session: SessionID.numbered(1).description, transport: "usb")
        var bads = [good, good, good, good, good, good]
        bads[0].requestID = "1"
        bads[1].session = "1"
        bads[2].previousSession = ""
        bads[3].transport = "tcp"
        bads[4].policy = "none"
        bads[5].ttl = 0

        for bad in bads {
            _ = await expectFailure(.badRequest) {
                try await cloud.service.acquire(bad, meter: TestCloud.meter, in: "home", by: one)
            }
        }
    }
}
