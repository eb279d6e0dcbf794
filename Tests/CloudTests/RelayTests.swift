import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

/// What the cloud passes on, from whom, to whom.
struct RelayTests {
    private func watch(
        _ cloud: TestCloud, by host: Principal, _ meter: String = TestCloud.meter, wantsAll: Bool = false
    ) async throws(CloudFailure) -> RelaySubscription.Iterator {
        try await cloud.service.watch(meter, wantsAll: wantsAll, in: "home", by: host).makeAsyncIterator()
    }

    private func send(
        _ cloud: TestCloud, _ host: Principal, token: UInt64, session: UInt64 = 1, number: UInt64 = 1,
        _ readings: [RelayReadingBody] = [.volts(5)], meter: String = TestCloud.meter
    ) async throws(CloudFailure) -> RelayAnswer {
        let request = RelayRequest(
            session: SessionID.numbered(session).description, token: token, number: number, missed: 0,
            readings: readings)
        return try await cloud.service.relay(request, of: meter, in: "home", by: host)
    }

    @Test func holder_isToldThatSomebodyWatches_andItsReadingsArrive() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let observer = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        let unwatched = try await send(cloud, holder.principal, token: lease.token)
        var events = try await watch(cloud, by: observer)
        let interest = await holder.interest()
        let answer = try await send(cloud, holder.principal, token: lease.token)

        #expect(unwatched.interest == 0)
        #expect(interest == EventBody.Interest(meter: TestCloud.meter, remaining: 30_000, all: false))
        #expect(answer.interest == 30_000)
        let first = await events.next()?.event.body
        #expect(first?.holder?.holderName == "Host 1")
        #expect(first?.holder?.session == nil)
        let batch = await events.next()?.event.body.batch
        #expect(batch?.token == lease.token)
        #expect(batch?.holderName == "Host 1")
        #expect(batch?.readings == [.volts(5)])
    }

    @Test func holder_isToldOnce_whenTheLastObserverLeaves() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        _ = try await cloud.acquire(holder.principal)
        var first: RelaySubscription.Iterator? = try await watch(cloud, by: try await cloud.join(2))
        var second: RelaySubscription.Iterator? = try await watch(cloud, by: try await cloud.join(3))
        _ = await (first?.next(), second?.next())
        let begin = await holder.interest()
        first = nil
        second = nil
        let end = await holder.interest()

        #expect(begin?.remaining == 30_000)
        #expect(end?.remaining == 0, "not before the second one left, and the first word after the begin")
    }

    @Test func nobody_butTheHolder_mayPaint_andThoseWhoWatchAreTold() async throws {
        let cloud = try await TestCloud()
        let (one, two, three) = (try await cloud.join(1), try await cloud.join(2), try await cloud.join(3))
        let lease = try await cloud.acquire(one)
        var events = try await watch(cloud, by: three)
        _ = await events.next()

        let refused = [
            await expectFailure(.leaseLost) { try await send(cloud, two, token: lease.token) },
            await expectFailure(.leaseLost) { try await send(cloud, one, token: lease.token, session: 9) },
            await expectFailure(.leaseLost) { try await send(cloud, one, token: lease.token + 1) },
            await expectFailure(.leaseLost) { try await send(cloud, one, token: 0) },
        ]
        _ = try await send(cloud, one, token: lease.token)

        #expect(refused.count == 4)
        #expect(await events.next()?.event.body.refused == "Host 2")
        #expect(await events.next()?.event.body.batch?.holderName == "Host 1", "told of once, not again and again")
    }

    @Test func formerHolder_isRefused_afterATakeover_andTheNewOneIsAskedAtOnce() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await Listener(cloud, 1), try await Listener(cloud, 2))
        let lease = try await cloud.acquire(one.principal)
        var events = try await watch(cloud, by: try await cloud.join(3))
        _ = await events.next()
        _ = try await cloud.release(one.principal, lease)
        let next = try await cloud.acquire(two.principal, session: 2, request: 2)
        let interest = await two.interest()
        _ = await expectFailure(.leaseLost) { try await send(cloud, one.principal, token: lease.token) }
        _ = try await send(cloud, two.principal, token: next.token, session: 2)

        #expect(interest?.remaining == 30_000)
        #expect(await events.next()?.event.body.holder?.state == "free")
        #expect(await events.next()?.event.body.holder?.holderName == "Host 2")
        #expect(await events.next()?.event.body.refused == "Host 1")
        #expect(await events.next()?.event.body.batch?.token == next.token)
    }

    /// Two copies of one cloud that do not hear of each other: the lease is read where the token is not the known one.
    @Test func newToken_grantedThroughAnotherCopy_isReadBeforeItIsRefused() async throws {
        let cloud = try await TestCloud()
        let other = cloud.anotherCopy()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)
        var events = try await watch(cloud, by: try await cloud.join(3))
        _ = await events.next()
        _ = try await other.release(one, lease)
        let next = try await other.acquire(two, session: 2, request: 2)

        _ = try await send(cloud, two, token: next.token, session: 2)
        _ = await expectFailure(.leaseLost) { try await send(cloud, one, token: lease.token) }

        #expect(await events.next()?.event.body.holder?.holderName == "Host 2")
        #expect(await events.next()?.event.body.batch?.token == next.token)
    }

    /// Five hundred who watch one meter, of whom one takes nothing: all others have every batch, in order.
    @Test func fiveHundredObservers_haveEveryBatch_besideOneThatTakesNothing() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(one)
        var stalled = try await watch(cloud, by: two)
        var observers: [RelaySubscription.Iterator] = []
        for _ in 0..<500 { observers.append(try await watch(cloud, by: two)) }
        for index in observers.indices { _ = await observers[index].next() }
        for number in 1...UInt64(40) {
            _ = try await send(cloud, one, token: lease.token, number: number)
            for index in observers.indices {
                let item = await observers[index].next()
                #expect(item?.event.body.batch?.number == number)
                #expect(item?.missed == 0)
            }
        }
        let late = await stalled.next()
        #expect(late?.event.body.batch?.number == 25, "the newest 16 wait for it")
        #expect(late?.missed == 24)
    }

    @Test func slowObserver_losesTheOldest_isToldHowMuch_andSlowsNobody() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let lease = try await cloud.acquire(one)
        var slow = try await watch(cloud, by: try await cloud.join(2))
        var quick = try await watch(cloud, by: try await cloud.join(3))
        _ = await (slow.next(), quick.next())
        for number in 1...UInt64(20) {
            var folded = RelayReadingBody.volts(5)
            folded.count = 10
            _ = try await send(cloud, one, token: lease.token, number: number, [folded, .volts(6)])
            let item = await quick.next()
            #expect(item?.event.body.batch?.number == number)
            #expect(item?.missed == 0)
        }
        let first = await slow.next()

        #expect(first?.event.body.batch?.number == 5, "16 wait")
        #expect(first?.missed == 44)
        #expect(await slow.next()?.missed == 0)
    }

    @Test func badBatches_areRefused_withTheValue() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let lease = try await cloud.acquire(one)
        _ = try await watch(cloud, by: one)
        var old = RelayReadingBody.volts(5)
        old.age = 60_001
        var none = RelayReadingBody.volts(5)
        none.count = 0
        var wide = RelayReadingBody.volts(5)
        wide.greatest = Dictionary(uniqueKeysWithValues: (0..<65).map { ("q\($0)", 1) })

        for (code, readings) in [
            (CloudErrorCode.limitExceeded, Array(repeating: RelayReadingBody.volts(1), count: 1001)),
            (.badRequest, [.volts(.infinity)]), (.badRequest, [.volts(.nan)]), (.badRequest, [old]),
            (.badRequest, [none]), (.limitExceeded, [wide]),
            (.badRequest, [RelayReadingBody(age: 0, time: 0, values: [String(repeating: "x", count: 65): 1])]),
        ] {
            _ = await expectFailure(code) { try await send(cloud, one, token: lease.token, readings) }
        }
        _ = await expectFailure(.badRequest) { try await send(cloud, one, token: lease.token, meter: "nonsense") }
    }

    @Test func revokedHost_watchesNoMore_andAStrangerNeverDoes() async throws {
        let cloud = try await TestCloud()
        let two = try await cloud.join(2)
        var events = try await watch(cloud, by: two)
        _ = await events.next()
        _ = try await cloud.service.revokeCredential(two.credential.id)
        let enrolment = try await cloud.service.authenticate(hash: [0])

        #expect(await events.next() == nil)
        _ = await expectFailure(.permissionDenied) { try await watch(cloud, by: enrolment) }
    }

    @Test func stoppingCloud_endsAllStreams_andTakesNoNewOnes() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        var events = try await watch(cloud, by: one)
        _ = await events.next()
        await cloud.service.shutdown()

        #expect(await events.next() == nil)
        _ = await expectFailure(.serviceUnavailable) { try await watch(cloud, by: one) }
    }

    /// A holder that does not listen just now keeps its event stream, however often somebody looks.
    @Test func wordsAboutOneMeter_thatWait_areOne_theLast() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let lease = try await cloud.acquire(holder.principal)
        let observer = try await cloud.join(2)
        _ = await holder.lease()
        for _ in 0..<300 { _ = try await watch(cloud, by: observer) }
        let last = try await watch(cloud, by: observer)
        _ = try await cloud.release(holder.principal, lease)

        #expect(await holder.interest()?.remaining == 30_000)
        #expect(await holder.lease()?.state == "free")
        withExtendedLifetime(last) {}
    }

    @Test func everyReading_isAskedFor_whileOneObserverWantsAll() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        _ = try await cloud.acquire(holder.principal)
        let some = try await watch(cloud, by: try await cloud.join(2))
        let folded = await holder.interest()
        let all = try await watch(cloud, by: try await cloud.join(3), wantsAll: true)
        let every = await holder.interest()

        #expect(folded?.all == false)
        #expect(every?.all == true)
        withExtendedLifetime((some, all)) {}
    }
}

extension RelayReadingBody {
    static func volts(_ volts: Double) -> RelayReadingBody {
        RelayReadingBody(age: 0, time: 1_700_000_000_000, values: ["voltage_V": volts])
    }
}
