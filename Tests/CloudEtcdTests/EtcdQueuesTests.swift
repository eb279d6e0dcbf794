import CloudAPI
import CoreTestKit
import Domain
import Logging
import MeterTestKit
import Testing

@testable import Cloud
@testable import CloudEtcd

/// Hosts that wait for a meter at two copies of one cloud, each with a clock of its own.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdQueuesTests {
    private static let server = Result { try EtcdServer.started() }

    private static let zone = "home"
    private static let meter = "AA:BB:CC:DD:EE:FF"
    private let place = MeterPlace(zone: zone, meter: meter)
    private let offer = EventBody.Offer(meter: meter, reserved: 10_000)

    /// One copy, whose clock moves when a test says so.
    private final class Copy: Sendable {
        let engine: EtcdCloudEngine
        let service: CloudService
        let time: TestTime

        init(_ settings: EtcdSettings, startedAt seconds: Int) async throws {
            let time = TestTime(seconds)
            self.time = time
            let real = CloudClock.real
            var clock = real
            clock.now = { time.now }
            // It waits as long as was meant, by a clock that goes.
            clock.sleep = { until in try await real.sleep(real.now() + (until - time.now)) }
            engine = try await EtcdCloudEngine.open(settings, clock: clock)
            service = CloudService(
                engine: engine, clock: clock, rng: SystemRandomNumberGenerator(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }

        func acquire(_ host: Principal, takeover: Bool = false) async throws(CloudFailure) -> LeaseBody {
            let id = host.credential.binding?.host.description ?? ""
            var request = AcquireRequest(requestID: id, session: id, transport: "ble")
            if takeover {
                let present = try? await engine.lease(of: meter, in: zone)
                request.takeover = .of(token: present?.token.rawValue ?? 0)
            }
            return try await service.acquire(request, meter: meter, in: zone, by: host)
        }

        func release(_ host: Principal, _ lease: LeaseBody) async throws(CloudFailure) {
            let id = host.credential.binding?.host.description ?? ""
            _ = try await service.release(
                ReleaseRequest(session: id, token: lease.token), meter: meter, in: zone, by: host)
        }

        func enqueue(_ host: Principal) async throws(CloudFailure) -> [String] {
            try await service.enqueue(meter: meter, in: zone, by: host).waiting
        }

        func leave(_ host: Principal) async throws(CloudFailure) {
            _ = try await service.leaveQueue(meter: meter, in: zone, by: host)
        }

        func listen(_ host: Principal) async throws(CloudFailure) -> Events {
            Events(iterator: try await service.events(in: zone, by: host).makeAsyncIterator())
        }

        /// Who waits, as this copy shows it after it has read everything.
        func waiting() async throws -> [String] {
            await service.readQueues()
            return service.queues.names(at: MeterPlace(zone: zone, meter: meter))
        }
    }

    /// What one host is told.
    private struct Events {
        var iterator: EventSubscription.Iterator

        /// Reads on until these wait.
        mutating func waiting(_ names: [String]) async -> Bool {
            while let event = await iterator.next() { if event.lease?.waiting == names { return true } }
            return false
        }

        mutating func offer() async -> EventBody.Offer? {
            while let event = await iterator.next() { if let offer = event.offer { return offer } }
            return nil
        }
    }

    private func host(_ number: UInt64) -> Principal {
        var credential = Credential(
            id: "\(number)", hash: [UInt8(number)], zone: Self.zone, kind: .host, label: "Host \(number)",
            createdAt: WallTime(millisecondsSince1970: 0))
        credential.binding = Credential.Binding(host: .numbered(number), hostName: "Host \(number)", machine: "m")
        return Principal(credential: credential)
    }

    private func withCopies(
        _ prefix: String = #function, policy: LeasePolicy = .keep, _ body: (Copy, Copy) async throws -> Void
    ) async throws {
        var settings = try Self.server.get().settings
        settings.prefix = "\(prefix)/"
        // Years apart, and it means nothing.
        let (first, second) = (
            try await Copy(settings, startedAt: 1000), try await Copy(settings, startedAt: 500_000_000)
        )
        let result: Result<Void, any Error>
        do {
            let terms = LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy)
            _ = try await first.engine.createZone(Self.zone, terms: terms)
            result = .success(try await body(first, second))
        } catch {
            result = .failure(error)
        }
        await first.engine.close()
        await second.engine.close()
        try result.get()
    }

    /// Runs `body` once what either copy does is told to the other at once.
    private func whileFollowing(
        _ first: Copy, _ second: Copy, _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (copy, other) in [(first, second), (second, first)] {
                group.addTask { await copy.engine.run { await copy.service.hear($0) } }
                // There is no saying when its watch stands, so somebody comes and goes until it is told.
                let guest = host(99)
                var told = try await copy.listen(host(98))
                let (_, stream) = (host(98), try await other.listen(guest))
                let restless = Task {
                    while !Task.isCancelled {
                        _ = try? await other.enqueue(guest)
                        try? await other.leave(guest)
                    }
                }
                #expect(await told.waiting(["Host 99"]))
                restless.cancel()
                await restless.value
                withExtendedLifetime(stream) {}
            }
            try await body()
            group.cancelAll()
        }
    }

    @Test func firstComeIsFirst_andEverybodyIsTold_overBothCopies() async throws {
        try await withCopies { first, second in
            try await whileFollowing(first, second) {
                let lease = try await first.acquire(host(1))
                var one = try await first.listen(host(1))
                var (two, three) = (try await second.listen(host(2)), try await first.listen(host(3)))

                #expect(try await second.enqueue(host(2)) == ["Host 2"])
                #expect(try await first.enqueue(host(3)) == ["Host 2", "Host 3"])

                #expect(await one.waiting(["Host 2", "Host 3"]))
                #expect(await two.waiting(["Host 2", "Host 3"]))
                try await first.release(host(1), lease)
                #expect(await two.offer() == offer)
                #expect(try await second.acquire(host(2)).waiting == ["Host 3"])
                #expect(await one.waiting(["Host 3"]))
                // Who leaves is told of too, and its key is gone.
                try await first.leave(host(3))
                #expect(await two.waiting([]))
                #expect(await three.waiting([]))
                #expect(
                    try await first.engine.client.read([EtcdRange(key: first.engine.keys.queue(at: place))])
                        .ranges[0].entries.isEmpty)
            }
        }
    }

    @Test func queue_isShownWhole_throughEither_whenTheWatchLeftItOut() async throws {
        try await withCopies { first, second in
            _ = try await first.acquire(host(1))
            let streams = [try await second.listen(host(2)), try await first.listen(host(3))]
            _ = try await second.enqueue(host(2))
            _ = try await first.enqueue(host(3))

            #expect(try await first.waiting() == ["Host 2", "Host 3"])
            #expect(try await second.waiting() == ["Host 2", "Host 3"])
            try await first.leave(host(2))
            #expect(try await second.waiting() == ["Host 3"])
            try await second.leave(host(3))
            #expect(try await first.waiting() == [])
            withExtendedLifetime(streams) {}
        }
    }

    @Test func takeover_underStrict_putsTheTakerFirst_overBothCopies() async throws {
        try await withCopies(policy: .strict) { first, second in
            let lease = try await first.acquire(host(1))
            var (two, three) = (try await first.listen(host(2)), try await second.listen(host(3)))
            _ = try await first.enqueue(host(2))

            let failure = await #expect(throws: CloudFailure.self) {
                _ = try await second.acquire(host(3), takeover: true)
            }

            #expect(failure?.lease?.waiting == ["Host 3", "Host 2"])
            #expect(try await first.waiting() == ["Host 3", "Host 2"])
            try await first.release(host(1), lease)
            await second.service.settleQueue(of: place)
            #expect(await three.offer() == offer)
            let early = await #expect(throws: CloudFailure.self) { _ = try await first.acquire(host(2)) }
            #expect(early?.reason == "reserved")
            #expect(try await second.acquire(host(3)).waiting == ["Host 2"])
            try await second.release(host(3), try await second.acquire(host(3)))
            _ = try await first.waiting()
            await first.service.settleQueue(of: place)
            #expect(await two.offer() == offer)
        }
    }

    @Test func deadCopysWaiters_leaveAfterItsTime_andNotBefore_andAHostThatCameAgainStays() async throws {
        try await withCopies { first, second in
            _ = try await first.acquire(host(1))
            let streams = [
                try await second.listen(host(2)), try await first.listen(host(3)), try await second.listen(host(4)),
            ]
            _ = try await second.enqueue(host(2))
            _ = try await first.enqueue(host(3))
            _ = try await second.enqueue(host(4))
            var (life, dying) = (CloudService.ReplicaGeneration(), CloudService.ReplicaGeneration())
            // Signs as long as it lives, and then none.
            for _ in 0..<6 {
                await second.service.lookAround(&dying)
                await first.service.lookAround(&life)
                first.time.advance(5)
            }
            #expect(try await first.waiting() == ["Host 2", "Host 3", "Host 4"])
            let again = try await first.listen(host(4))
            #expect(try await first.enqueue(host(4)) == ["Host 2", "Host 3", "Host 4"])

            // It was seen to live 5 s ago.
            for second in [5, 10, 15] {
                await first.service.lookAround(&life)
                #expect(try await first.waiting() == ["Host 2", "Host 3", "Host 4"], "at \(second) s")
                first.time.advance(5)
            }
            await first.service.lookAround(&life)

            #expect(try await first.waiting() == ["Host 3", "Host 4"])
            // It was not dead: it hears of it, and goes on under another name.
            let name = second.service.copy
            await second.service.lookAround(&dying)
            #expect(second.service.copy != name)
            #expect(second.service.listenerCount == 0)
            await second.service.lookAround(&dying)
            let back = try await second.listen(host(2))
            #expect(try await second.enqueue(host(2)) == ["Host 3", "Host 4", "Host 2"])
            withExtendedLifetime((streams, again, back)) {}
        }
    }

    @Test func everybodyStandsOnce_whenManyComeAndGoThroughBoth() async throws {
        try await withCopies { first, second in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in UInt64(1)...24 {
                    group.addTask {
                        let waiter = Waiter(
                            host: .numbered(number), name: "Host \(number)", copy: .numbered(1),
                            token: FencingToken(rawValue: 0))
                        for round in 0..<5 {
                            let copy = (Int(number) + round) % 2 == 0 ? first : second
                            let joined = try await copy.engine.changeQueue(at: place) { QueueEdit.join(waiter)($0) }
                            #expect(joined.waiters.count { $0 == waiter } == 1)
                            guard round < 4 || number % 2 == 0 else { return }
                            let left = try await copy.engine.changeQueue(at: place) { QueueEdit.leave(waiter.host)($0) }
                            #expect(!left.waiters.contains(waiter))
                        }
                    }
                }
                try await group.waitForAll()
            }

            let lines = [try await first.engine.queues().queues, try await second.engine.queues().queues]
            #expect(lines[0] == lines[1])
            let waiting: [HostID] = lines[0][place]?.waiters.map(\.host) ?? []
            let odd: [HostID] = (UInt64(1)...24).filter { $0 % 2 == 1 }.map { HostID.numbered($0) }
            #expect(Set(waiting) == Set(odd))
            #expect(lines[0][place]?.waiters.count == 12)
        }
    }

    @Test func garbage_isNobody_andGoesWithTheNextChange() async throws {
        try await withCopies { first, second in
            let key = first.engine.keys.queue(at: place)
            let other = first.engine.keys.queue(at: MeterPlace(zone: Self.zone, meter: "m"))
            let stream = try await first.listen(host(2))
            for value in [[], [0xFF], Array("[]".utf8), Array(#"{"waiters":[{}],"writer":""}"#.utf8)] as [[UInt8]] {
                _ = try await first.engine.client.commit(
                    EtcdTransaction(success: [
                        .put(key: key, value: value), .put(key: other, value: value),
                        .put(key: first.engine.keys.allQueues, value: value),
                        .put(key: first.engine.keys.allCopies + [0xFF], value: value),
                    ]))

                #expect(try await second.waiting() == [])
                #expect(try await first.enqueue(host(2)) == ["Host 2"])
                #expect(try await second.waiting() == ["Host 2"])
                try await second.leave(host(2))
                #expect(try await first.waiting() == [])
            }
            let signs = try await first.engine.heartbeat(of: .numbered(1), isFirst: true, address: nil)
            #expect(Set(signs.marks.keys) == [.numbered(1)])
            withExtendedLifetime(stream) {}
        }
    }
}
