import CloudAPI
import Domain
import MeterTestKit
import StoreTestKit
import Testing

@testable import Cloud

/// Hosts that wait at two copies of one cloud.
struct CopiesTests {
    /// Two copies over one store. What one did, the other hears of by `exchange` alone.
    private struct Copies {
        let first: TestCloud
        let second: TestCloud

        init(policy: LeasePolicy = .keep) async throws {
            first = try await TestCloud(policy: policy)
            second = first.anotherCopy()
        }

        /// What both hear from the store.
        func exchange() async throws {
            let record = try await first.engine.lease(of: TestCloud.meter, in: "home")
            for copy in [first, second] {
                await copy.service.readQueues()
                await copy.service.settleQueue(of: MeterPlace(zone: "home", meter: TestCloud.meter))
                if let record { await copy.service.hear(.lease(record, meter: TestCloud.meter, zone: "home")) }
            }
        }
    }

    private let offer = EventBody.Offer(meter: TestCloud.meter, reserved: 10_000)

    private func enqueue(_ cloud: TestCloud, _ listener: Listener) async throws -> [String] {
        try await cloud.service.enqueue(meter: TestCloud.meter, in: "home", by: listener.principal).waiting
    }

    private func waiting(_ cloud: TestCloud, _ host: Principal) async throws -> [String] {
        try await cloud.service.leases(in: "home", by: host).leases.first?.waiting ?? []
    }

    @Test func firstComeIsFirst_overBothCopies() async throws {
        let copies = try await Copies()
        let holder = try await copies.first.join(1)
        let (two, three) = (try await Listener(copies.second, 2), try await Listener(copies.first, 3))
        let lease = try await copies.first.acquire(holder)
        #expect(try await enqueue(copies.second, two) == ["Host 2"])

        // The copy that the second one asks has not even heard of the first one.
        #expect(try await enqueue(copies.first, three) == ["Host 2", "Host 3"])
        _ = try await copies.first.release(holder, lease)

        let early = await expectFailure(.leaseHeld) {
            try await copies.first.acquire(three.principal, session: 3, request: 3)
        }
        #expect(early?.reason == "reserved")
        try await copies.exchange()
        #expect(await two.offer() == offer)
        #expect(try await copies.second.acquire(two.principal, session: 2, request: 2).waiting == ["Host 3"])
    }

    @Test func queue_isShownWhole_throughEither() async throws {
        let copies = try await Copies()
        let one = try await Listener(copies.first, 1)
        let (two, three) = (try await Listener(copies.second, 2), try await Listener(copies.first, 3))
        _ = try await copies.first.acquire(one.principal)
        _ = try await enqueue(copies.second, two)
        _ = try await enqueue(copies.first, three)

        try await copies.exchange()

        for copy in [copies.first, copies.second] {
            #expect(try await waiting(copy, one.principal) == ["Host 2", "Host 3"])
        }
        // And told: to who holds it at the one, and who waits at the other.
        for listener in [one, two] {
            var told = await listener.lease()
            while told?.waiting.count != 2 { told = await listener.lease() }
            #expect(told?.waiting == ["Host 2", "Host 3"])
        }
    }

    @Test func offer_thatNobodyTakes_goesToTheNext_atTheOtherCopy() async throws {
        let copies = try await Copies()
        let (two, three) = (try await Listener(copies.second, 2), try await Listener(copies.first, 3))
        _ = try await enqueue(copies.second, two)
        _ = try await enqueue(copies.first, three)
        #expect(await two.offer() == offer)
        let place = MeterPlace(zone: "home", meter: TestCloud.meter)

        copies.first.time.advance(by: .seconds(10))
        await copies.first.service.settleQueue(of: place)
        let early = await expectFailure(.leaseHeld) {
            try await copies.first.acquire(three.principal, session: 3, request: 3)
        }
        await copies.second.service.settleQueue(of: place)
        try await copies.exchange()

        #expect(early?.reason == "reserved", "who made the offer ends it")
        #expect(await three.offer() == offer)
        #expect(try await copies.first.acquire(three.principal, session: 3, request: 4).waiting == [])
    }

    @Test func place_isLost_whenTheEventStreamEnds_atItsOwnCopyAlone() async throws {
        let copies = try await Copies()
        let holder = try await copies.first.join(1)
        _ = try await copies.first.acquire(holder)
        var two: Listener? = try await Listener(copies.second, 2)
        if let two { #expect(try await enqueue(copies.second, two) == ["Host 2"]) }

        try await copies.exchange()
        let before = try await waiting(copies.first, holder)
        two = nil
        try await copies.exchange()

        #expect(before == ["Host 2"], "that it does not listen here means nothing")
        #expect(try await waiting(copies.second, holder) == [])
        #expect(two == nil)
    }

    @Test func takeover_underStrict_putsTheTakerFirst_overBothCopies() async throws {
        let copies = try await Copies(policy: .strict)
        let one = try await Listener(copies.first, 1)
        let (two, three) = (try await Listener(copies.first, 2), try await Listener(copies.second, 3))
        let lease = try await copies.first.acquire(one.principal)
        _ = try await enqueue(copies.first, two)

        let failure = await expectFailure(.leaseHeld) {
            try await copies.second.acquire(three.principal, session: 3, request: 3, takeover: 1)
        }
        try await copies.exchange()

        #expect(failure?.lease?.waiting == ["Host 3", "Host 2"])
        #expect(try await waiting(copies.first, one.principal) == ["Host 3", "Host 2"])
        _ = try await copies.first.release(one.principal, lease)
        try await copies.exchange()
        #expect(await three.offer() == offer)
        #expect(try await copies.second.acquire(three.principal, session: 3, request: 4).waiting == ["Host 2"])
    }

    @Test func waiter_leaves_whenItGotTheMeterThroughACopyThatKnewNothingOfIt() async throws {
        let copies = try await Copies()
        let two = try await Listener(copies.second, 2)
        let holder = try await copies.first.join(1)
        let lease = try await copies.first.acquire(holder)
        _ = try await enqueue(copies.second, two)
        _ = try await copies.first.release(holder, lease)

        let taken = try await copies.first.acquire(two.principal, session: 2, request: 2)
        try await copies.exchange()

        #expect(taken.holderName == "Host 2")
        #expect(try await waiting(copies.second, holder) == [])
        #expect(try await copies.first.engine.queues().queues.isEmpty)
    }

    @Test func waiter_leaves_withTheNextLook_whenItsLeavingFailed() async throws {
        let copies = try await Copies()
        let two = try await Listener(copies.second, 2)
        _ = try await enqueue(copies.second, two)
        let place = MeterPlace(zone: "home", meter: TestCloud.meter)
        let waiter = try #require(try await copies.first.engine.queues().queues[place]?.waiters.first)
        let taken = try await copies.second.acquire(two.principal, session: 2, request: 2)

        // As it would be where the line could not be changed then.
        _ = try await copies.second.engine.changeQueue(at: place) { _ in [waiter] }
        await copies.second.service.readQueues()
        await copies.second.service.settleQueue(of: place)

        #expect(taken.waiting == [])
        #expect(try await copies.first.engine.queues().queues.isEmpty)
    }

    @Test func holder_mayWaitForItsOwnEarlierSession() async throws {
        let cloud = try await TestCloud()
        let one = try await Listener(cloud, 1)
        _ = try await cloud.acquire(one.principal, session: 1)

        #expect(try await enqueue(cloud, one) == ["Host 1"])
        await cloud.service.settleQueue(of: MeterPlace(zone: "home", meter: TestCloud.meter))

        #expect(try await waiting(cloud, one.principal) == ["Host 1"])
    }

    // MARK: Copies that die

    @Test func deadCopysWaiters_leaveAfterItsTime_andNotBefore() async throws {
        let copies = try await Copies()
        let (two, three) = (try await Listener(copies.second, 2), try await Listener(copies.first, 3))
        _ = try await enqueue(copies.second, two)
        _ = try await enqueue(copies.first, three)
        // It gives one sign, and dies.
        var life = CloudService.ReplicaGeneration()
        await copies.second.service.lookAround(&life)
        await copies.first.service.readQueues()
        let run = Task { await copies.first.service.liveAmongCopies() }
        await copies.first.time.began(sleeps: 1)

        for round in UInt64(2)...4 {
            copies.first.time.advance(by: .seconds(5))
            await copies.first.time.began(sleeps: round)
            #expect(try await waiting(copies.first, three.principal) == ["Host 2", "Host 3"], "in round \(round)")
        }
        copies.first.time.advance(by: .seconds(5))

        #expect(await three.offer() == offer)
        #expect(try await waiting(copies.first, three.principal) == ["Host 3"])
        #expect(try await copies.first.acquire(three.principal, session: 3, request: 3).waiting == [])
        run.cancel()
        await run.value
    }

    @Test func copies_keepEachOther_asLongAsBothLive() async throws {
        let copies = try await Copies()
        let (two, three) = (try await Listener(copies.second, 2), try await Listener(copies.first, 3))
        _ = try await enqueue(copies.second, two)
        _ = try await enqueue(copies.first, three)
        try await copies.exchange()
        var lives = [CloudService.ReplicaGeneration(), CloudService.ReplicaGeneration()]

        for _ in 0..<20 {
            await copies.first.service.lookAround(&lives[0])
            await copies.second.service.lookAround(&lives[1])
            copies.first.time.advance(by: .seconds(5))
        }

        #expect(
            try await copies.first.engine.queues().queues.values.map { $0.waiters.map(\.name) }
                == [["Host 2", "Host 3"]])
    }

    @Test func host_keepsItsPlace_whenItComesToAnotherCopyInTime() async throws {
        let copies = try await Copies()
        let holder = try await copies.first.join(1)
        let lease = try await copies.first.acquire(holder)
        let (two, three) = (try await Listener(copies.second, 2), try await Listener(copies.first, 3))
        _ = try await enqueue(copies.second, two)
        _ = try await enqueue(copies.first, three)
        // Its copy dies.
        let again = try await Listener(copies.first, as: two.principal)

        #expect(try await enqueue(copies.first, again) == ["Host 2", "Host 3"])
        var life = CloudService.ReplicaGeneration()
        for _ in 0..<10 {
            await copies.first.service.lookAround(&life)
            copies.first.time.advance(by: .seconds(5))
        }

        #expect(try await waiting(copies.first, holder) == ["Host 2", "Host 3"])
        _ = try await copies.first.renew(holder, lease)
        _ = try await copies.first.release(holder, lease)
        #expect(await again.offer() == offer)
    }

    @Test func host_keepsItsPlace_whenItsCopyStops() async throws {
        let copies = try await Copies()
        let holder = try await copies.second.join(1)
        let (two, three) = (try await Listener(copies.first, 2), try await Listener(copies.second, 3))
        _ = try await copies.second.acquire(holder)
        _ = try await enqueue(copies.first, two)
        _ = try await enqueue(copies.second, three)

        await copies.first.service.shutdown()
        try await copies.exchange()

        #expect(try await waiting(copies.second, holder) == ["Host 2", "Host 3"])
        let again = try await Listener(copies.second, as: two.principal)
        #expect(try await enqueue(copies.second, again) == ["Host 2", "Host 3"])
    }

    @Test func copyThatWasGivenUp_goesOnAsAnother_andItsHostsQueueAgain() async throws {
        let copies = try await Copies()
        let holder = try await copies.first.join(1)
        _ = try await copies.first.acquire(holder)
        let (two, quiet) = (try await Listener(copies.second, 2), try await Listener(copies.second, 4))
        _ = try await enqueue(copies.second, two)
        await copies.first.service.readQueues()
        var lives = [CloudService.ReplicaGeneration(), CloudService.ReplicaGeneration()]
        await copies.second.service.lookAround(&lives[1])
        let name = copies.second.service.copy

        // It hangs.
        for _ in 0..<5 {
            await copies.first.service.lookAround(&lives[0])
            copies.first.time.advance(by: .seconds(5))
        }
        let during = try await waiting(copies.first, holder)
        await copies.second.service.lookAround(&lives[1])

        #expect(during == [])
        #expect(await two.offer() == nil, "its stream ended, so that it comes again")
        #expect(copies.second.service.copy != name)
        #expect(copies.second.service.listenerCount == 1, "who does not wait notices nothing")
        let again = try await Listener(copies.second, as: two.principal)
        #expect(try await enqueue(copies.second, again) == ["Host 2"])
        for _ in 0..<6 {
            await copies.first.service.lookAround(&lives[0])
            await copies.second.service.lookAround(&lives[1])
            copies.first.time.advance(by: .seconds(5))
        }
        #expect(try await waiting(copies.second, quiet.principal) == ["Host 2"])
    }

    @Test func nobodyIsGivenUp_whileTheStoreAnswersNobody() async throws {
        let copies = try await Copies()
        let two = try await Listener(copies.second, 2)
        _ = try await enqueue(copies.second, two)
        try await copies.exchange()
        var lives = [CloudService.ReplicaGeneration(), CloudService.ReplicaGeneration()]
        func round() async {
            await copies.first.service.lookAround(&lives[0])
            await copies.second.service.lookAround(&lives[1])
            copies.first.time.advance(by: .seconds(5))
        }
        await round()

        copies.first.engine.fail(with: CloudFailure(.serviceUnavailable, "no majority"))
        for _ in 0..<12 { await round() }
        copies.first.engine.fail(with: nil)
        await round()

        #expect(try await waiting(copies.second, two.principal) == ["Host 2"])
        await copies.second.service.lookAround(&lives[1])
        #expect(copies.second.service.listenerCount == 1)
    }
}
