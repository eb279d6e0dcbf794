import Cloud
import CloudAPI
import Domain
import MeterTestKit
import Testing

/// Hosts that wait for a meter.
struct QueueTests {
    private func enqueue(_ cloud: TestCloud, _ listener: Listener) async throws -> LeaseBody {
        try await cloud.service.enqueue(meter: TestCloud.meter, in: "home", by: listener.principal)
    }

    private let offer = EventBody.Offer(meter: TestCloud.meter, reserved: 10_000)

    @Test func head_isOfferedTheMeter_whenItIsReleased() async throws {
        let cloud = try await TestCloud()
        let holder = try await cloud.join(1)
        let (two, three) = (try await Listener(cloud, 2), try await Listener(cloud, 3))
        let lease = try await cloud.acquire(holder)
        _ = try await enqueue(cloud, two)
        let waiting = try await enqueue(cloud, three)

        _ = try await cloud.release(holder, lease)

        #expect(waiting.waiting == ["Host 2", "Host 3"])
        #expect(await two.offer() == offer)
        let third = await expectFailure(.leaseHeld) {
            try await cloud.acquire(three.principal, session: 3, request: 3)
        }
        #expect(third?.reason == "reserved")
        let taken = try await cloud.acquire(two.principal, session: 2, request: 2)
        #expect(taken.waiting == ["Host 3"])
    }

    @Test func waiting_isShownToAll() async throws {
        let cloud = try await TestCloud()
        let one = try await Listener(cloud, 1)
        let two = try await Listener(cloud, 2)
        _ = try await cloud.acquire(one.principal)
        #expect(await one.lease()?.waiting == [])

        _ = try await enqueue(cloud, two)

        #expect(await one.lease()?.waiting == ["Host 2"])
        #expect(try await cloud.service.leases(in: "home", by: one.principal).leases.first?.waiting == ["Host 2"])
        let left = try await cloud.service.leaveQueue(meter: TestCloud.meter, in: "home", by: two.principal)
        #expect(left.waiting == [])
        #expect(await one.lease()?.waiting == [])
    }

    /// Each queue is looked at every second, so a host waits for so many meters at most.
    @Test func queues_areLimited_forEachHost() async throws {
        let cloud = try await TestCloud()
        let (greedy, other) = (try await Listener(cloud, 1), try await Listener(cloud, 2))
        for number in 0..<256 {
            let meter = MACAddress(bits: 0x02AB_CDEF_0000 + UInt64(number)).description
            _ = try await cloud.service.enqueue(meter: meter, in: "home", by: greedy.principal)
            // Somebody has to listen: a stream with too many events waiting ends.
            _ = await (greedy.lease(), other.lease())
        }
        _ = await expectFailure(.rateLimited) { try await enqueue(cloud, greedy) }
        _ = try await enqueue(cloud, other)
        let first = MACAddress(bits: 0x02AB_CDEF_0000).description
        _ = try await cloud.service.enqueue(meter: first, in: "home", by: greedy.principal)
        _ = try await cloud.service.leaveQueue(meter: first, in: "home", by: greedy.principal)
        _ = try await enqueue(cloud, greedy)
    }

    @Test func queue_isRefused_withoutAnEventStream() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        _ = try await cloud.acquire(one)

        _ = await expectFailure(.badRequest) {
            try await cloud.service.enqueue(meter: TestCloud.meter, in: "home", by: two)
        }
    }

    @Test func freeMeter_isOfferedAtOnce() async throws {
        let cloud = try await TestCloud()
        let one = try await Listener(cloud, 1)

        let body = try await enqueue(cloud, one)

        #expect(body.state == "free")
        #expect(await one.offer() == offer)
        #expect(try await cloud.service.leases(in: "home", by: one.principal).leases.map(\.waiting) == [["Host 1"]])
        #expect(try await cloud.acquire(one.principal).waiting == [])
    }

    @Test func offer_goesToTheNext_whenNobodyTakesIt() async throws {
        let cloud = try await TestCloud()
        let holder = try await cloud.join(1)
        let (two, three) = (try await Listener(cloud, 2), try await Listener(cloud, 3))
        let lease = try await cloud.acquire(holder)
        _ = try await enqueue(cloud, two)
        _ = try await enqueue(cloud, three)
        let run = Task { await cloud.service.run() }
        await cloud.began(rounds: 1)

        _ = try await cloud.release(holder, lease)
        #expect(await two.offer() == offer)
        cloud.time.advance(by: .seconds(10))
        await cloud.began(rounds: 2)

        #expect(await three.offer() == offer)
        let second = await expectFailure(.leaseHeld) {
            try await cloud.acquire(two.principal, session: 2, request: 2)
        }
        #expect(second?.reason == "reserved")
        #expect(try await cloud.acquire(three.principal, session: 3, request: 3).waiting == [])
        run.cancel()
        await run.value
    }

    @Test func head_isOfferedTheMeter_whenItsLeaseIsOver() async throws {
        let cloud = try await TestCloud()
        let holder = try await cloud.join(1)
        let two = try await Listener(cloud, 2)
        _ = try await cloud.acquire(holder)
        _ = try await enqueue(cloud, two)
        let run = Task { await cloud.service.run() }
        await cloud.began(rounds: 1)

        cloud.time.advance(by: .seconds(135))

        #expect(await two.offer() == offer)
        #expect(try await cloud.acquire(two.principal, session: 2, request: 2).holderName == "Host 2")
        run.cancel()
        await run.value
    }

    @Test func place_isLost_whenTheEventStreamEnds() async throws {
        let cloud = try await TestCloud()
        let holder = try await cloud.join(1)
        let lease = try await cloud.acquire(holder)
        let three = try await Listener(cloud, 3)
        do {
            let two = try await Listener(cloud, 2)
            _ = try await enqueue(cloud, two)
        }
        _ = try await enqueue(cloud, three)

        _ = try await cloud.release(holder, lease)

        #expect(await three.offer() == offer)
    }

    @Test func takeover_underStrict_putsTheTakerFirst() async throws {
        let cloud = try await TestCloud(policy: .strict)
        let one = try await Listener(cloud, 1)
        let (two, three) = (try await Listener(cloud, 2), try await Listener(cloud, 3))
        let lease = try await cloud.acquire(one.principal)
        _ = try await enqueue(cloud, two)

        let failure = await expectFailure(.leaseHeld) {
            try await cloud.acquire(three.principal, session: 3, request: 3, takeover: 1)
        }

        #expect(failure?.reason == "revoking")
        #expect(failure?.lease?.waiting == ["Host 3", "Host 2"])
        var told = await one.lease()
        while told?.state != "revoking" { told = await one.lease() }
        #expect(told?.waiting == ["Host 3", "Host 2"])
        #expect(try await cloud.renew(one.principal, lease)?.result == "revoking")
        _ = try await cloud.release(one.principal, lease)
        #expect(await three.offer() == offer)
        #expect(try await cloud.acquire(three.principal, session: 3, request: 4).waiting == ["Host 2"])
    }

    @Test func takeover_underKeep_passesTheQueue() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let (two, three) = (try await Listener(cloud, 2), try await Listener(cloud, 3))
        _ = try await cloud.acquire(one)
        _ = try await enqueue(cloud, two)

        let taken = try await cloud.acquire(three.principal, session: 3, request: 3, takeover: 1)

        #expect(taken.holderName == "Host 3")
        #expect(taken.waiting == ["Host 2"])
    }

    @Test func queue_isRefused_whenFull() async throws {
        let cloud = try await TestCloud()
        let holder = try await cloud.join(200)
        _ = try await cloud.acquire(holder)
        var listeners: [Listener] = []
        for number in 1...65 { listeners.append(try await Listener(cloud, UInt8(number))) }
        for listener in listeners.dropLast() { _ = try await enqueue(cloud, listener) }

        _ = await expectFailure(.rateLimited) { try await enqueue(cloud, listeners[64]) }

        #expect(try await enqueue(cloud, listeners[0]).waiting.count == 64, "who waits already still does")
    }

    @Test func run_purgesOldTombstones_onceADay() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let deleted = cloud.record("h", type: .host)
        _ = try await cloud.service.modify(
            ModifyRequest(records: [
                .init(key: deleted.key, deletion: .init(stamp: cloud.stamp()))
            ]), in: "home", by: one)
        let run = Task { await cloud.service.run() }
        await cloud.began(rounds: 1)
        // From here on it ages.
        cloud.time.advance(by: .seconds(600))
        await cloud.began(rounds: 2)

        cloud.time.advance(by: .seconds(179 * 86_400))
        await cloud.began(rounds: 3)
        #expect(try await cloud.service.records(in: "home", type: nil).count == 1)
        cloud.time.confirm(false)
        cloud.time.advance(by: .seconds(2 * 86_400))
        await cloud.began(rounds: 4)
        #expect(try await cloud.service.records(in: "home", type: nil).count == 1, "nobody confirms the calendar")
        cloud.time.confirm(true)
        cloud.time.advance(by: .seconds(86_400))
        await cloud.began(rounds: 5)

        #expect(try await cloud.service.records(in: "home", type: nil).isEmpty)
        run.cancel()
        await run.value
    }
}
