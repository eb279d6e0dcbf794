import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

struct EventTests {
    private func modify(_ cloud: TestCloud, _ records: [SyncRecord], by host: Principal) async throws {
        _ = try await cloud.service.modify(ModifyRequest(records: records), in: "home", by: host)
    }

    @Test func change_isToldWithItsTypesAndItsHost() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        var events = try await cloud.service.events(in: "home", by: two).makeAsyncIterator()

        let records = [cloud.record("n", type: RecordType(rawValue: "New")), cloud.record(TestCloud.meter)]
        try await modify(cloud, records, by: one)

        let expected = EventBody.Change(types: ["DeviceSettings", "New"], hostID: HostID.numbered(1).description)
        #expect(await events.next() == EventBody(change: expected))
    }

    @Test func changes_thatWait_areOneEvent() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        var events = try await cloud.service.events(in: "home", by: two).makeAsyncIterator()

        for value in 0..<500 {
            try await modify(cloud, [cloud.record(TestCloud.meter, value: Int64(value), after: Int64(value))], by: one)
        }
        try await modify(cloud, [cloud.record("h", type: .host)], by: two)
        _ = try await cloud.acquire(one)

        #expect(await events.next()?.change == EventBody.Change(types: ["DeviceSettings", "Host"], hostID: nil))
        #expect(await events.next()?.lease?.state == "held")
    }

    @Test func nothing_isTold_whenNothingChanged() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        try await modify(cloud, [cloud.record(TestCloud.meter)], by: one)
        let lease = try await cloud.acquire(one)
        var events = try await cloud.service.events(in: "home", by: one).makeAsyncIterator()

        try await modify(cloud, [cloud.record(TestCloud.meter)], by: one)
        _ = try await cloud.acquire(one)
        _ = try await cloud.renew(one, lease)
        _ = await expectFailure(.leaseHeld) { try await cloud.acquire(one, session: 9, request: 9) }
        _ = try await cloud.release(one, lease)

        #expect(await events.next()?.lease?.state == "free", "the release is the first event")
    }

    @Test func lease_isToldToAll_andItsSessionToItsHolderAlone() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        var own = try await cloud.service.events(in: "home", by: one).makeAsyncIterator()
        var others = try await cloud.service.events(in: "home", by: two).makeAsyncIterator()

        _ = try await cloud.acquire(one)

        #expect(await own.next()?.lease?.session == SessionID.numbered(1).description)
        let seen = await others.next()?.lease
        #expect(seen?.holderName == "Host 1")
        #expect(seen?.session == nil)
    }

    @Test func zones_hearNothingOfEachOther() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        _ = try await cloud.service.createZone("other", terms: .standard)
        _ = try await cloud.service.addCredential(.enrolment, label: "x", hash: [99], in: "other")
        let enrolment = try await cloud.service.authenticate(hash: [99])
        let request = JoinRequest(hostID: HostID.numbered(5).description, hostName: "E", machine: "m5")
        _ = try await cloud.service.join(request, by: enrolment, newToken: (text: "t", hash: [5]))
        let stranger = try await cloud.service.authenticate(hash: [5])
        var events = try await cloud.service.events(in: "other", by: stranger).makeAsyncIterator()

        _ = try await cloud.acquire(one)
        await cloud.service.shutdown()

        #expect(await events.next() == nil)
    }

    @Test func stream_ends_whenItsListenerIsTooSlow() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        let subscription = try await cloud.service.events(in: "home", by: two)

        for number in 0..<300 {
            let meter = MACAddress(bits: UInt64(number + 1)).description
            _ = try await cloud.acquire(one, meter, request: UInt64(number))
        }

        var count = 0
        for await _ in subscription { count += 1 }
        #expect(count == 0, "whoever missed something lists anew, and needs nothing of what waited")
        #expect(cloud.service.listenerCount == 0)
    }

    @Test func stream_ends_whenItsTokenIsRevoked() async throws {
        let cloud = try await TestCloud()
        let (one, two) = (try await cloud.join(1), try await cloud.join(2))
        var ended = try await cloud.service.events(in: "home", by: one).makeAsyncIterator()
        var other = try await cloud.service.events(in: "home", by: two).makeAsyncIterator()

        try await cloud.service.revokeCredential(one.credential.id)
        _ = try await cloud.acquire(two, session: 2)

        #expect(await ended.next() == nil)
        #expect(await other.next()?.lease != nil)
    }

    @Test func streams_end_atShutdown_andNoneBegins() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        var events = try await cloud.service.events(in: "home", by: one).makeAsyncIterator()

        await cloud.service.shutdown()

        #expect(await events.next() == nil)
        let failure = await #expect(throws: CloudFailure.self) {
            _ = try await cloud.service.events(in: "home", by: one)
        }
        #expect(failure?.code == .serviceUnavailable)
    }

    @Test func streams_endAPartAtATime_whenThereAreMany() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        let count = 2 * CloudService.streamsEndedAtOnce + 1
        var subscriptions: [EventSubscription] = []
        for _ in 0..<count { subscriptions.append(try await cloud.service.events(in: "home", by: one)) }

        async let done: Void = cloud.service.shutdown()

        for (pauses, left) in [CloudService.streamsEndedAtOnce + 1, 1].enumerated() {
            await cloud.time.began(sleeps: UInt64(pauses + 1))
            #expect(cloud.service.listenerCount == left)
            cloud.time.advance(by: .milliseconds(100))
        }
        await done
        #expect(cloud.service.listenerCount == 0)
        #expect(subscriptions.count == count)
    }

    @Test func stream_isGone_whenNobodyHasIt() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)

        var events: EventSubscription? = try await cloud.service.events(in: "home", by: one)
        #expect(cloud.service.listenerCount == 1)
        events = nil

        #expect(events == nil)
        #expect(cloud.service.listenerCount == 0)
    }

    @Test func stream_ends_whenItsTaskIsCancelled() async throws {
        let cloud = try await TestCloud()
        let one = try await cloud.join(1)
        var subscription: EventSubscription? = try await cloud.service.events(in: "home", by: one)

        let task = Task { [subscription] in for await _ in try #require(subscription) {} }
        task.cancel()
        subscription = nil

        try await task.value
        #expect(cloud.service.listenerCount == 0)
    }
}
