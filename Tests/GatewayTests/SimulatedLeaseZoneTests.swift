import Domain
import Gateway
import MeterTestKit
import Synchronization
import Testing

/// The zone that the keeper's tests rely on.
@Suite(.timeLimit(.minutes(10)))
struct SimulatedLeaseZoneTests {
    private let loop = VirtualLoop()
    private let zone: SimulatedLeaseZone
    private let one: SimulatedLeaseLink
    private let two: SimulatedLeaseLink
    private let ids = (HostID(high: 0, low: 1), HostID(high: 0, low: 2))

    init() {
        zone = SimulatedLeaseZone(loop: loop, policy: .strict)
        one = zone.join(ids.0, name: "one")
        two = zone.join(ids.1, name: "two")
    }

    @Test func requests_takeTheirTime_andFollowTheRules() async throws {
        let granted = try await arriving { [one] in try await one.acquire(request(by: ids.0), of: .um) }
        let refused = try await arriving { [two] in try await two.acquire(request(by: ids.1), of: .um) }

        guard case .granted(let lease) = granted, case .refused(let reason, let holder, _) = refused else {
            Issue.record("\(granted) \(refused)")
            return
        }
        #expect(lease.token.rawValue == 1 && lease.terms.policy == .strict)
        #expect(reason == .held && holder?.holderName == "one")
        #expect(loop.now >= .origin + .milliseconds(40))
    }

    @Test func lostRequest_neverHappened_andALostAnswerDid() async throws {
        one.lose(requests: 1)
        await #expect(throws: SyncFailure.self) {
            try await arriving { [one] in try await one.acquire(request(by: ids.0), of: .um) }
        }
        #expect(zone.record(of: .um) == nil)

        one.lose(answers: 1)
        await #expect(throws: SyncFailure.self) {
            try await arriving { [one] in try await one.acquire(request(by: ids.0), of: .um) }
        }
        #expect(zone.holder(of: .um) == "one")
    }

    @Test func silence_lastsUntilItIsHealed_orTheTaskIsCancelled() async throws {
        one.set(.silent)
        let cancelled = Task { [one] in try await one.leases() }
        let healed = Task { [one] in try await one.leases() }
        try await eventually("both calls hang") { one.parkedCount == 2 }
        loop.advance(by: .seconds(1000))
        #expect(one.parkedCount == 2)

        cancelled.cancel()
        try await eventually("the cancelled call is over") { one.parkedCount == 1 }
        one.heal()

        await #expect(throws: SyncFailure.self) { try await cancelled.value }
        await #expect(throws: SyncFailure.self) { try await healed.value }
    }

    @Test func changes_areTold_andTheHeadOfTheLineIsOfferedWhatIsFree() async throws {
        let heard = Mutex<[CloudEvent]>([])
        two.listen { event in heard.withLock { $0.append(event) } }
        _ = try await arriving { [one] in try await one.acquire(request(by: ids.0), of: .um) }
        try await arriving { [two] in try await two.enqueue(for: .um, session: .init(high: 0, low: 2)) }
        let lease = HeldLease(meter: .um, token: FencingToken(rawValue: 1))

        try await arriving { [one] in try await one.release(lease, session: .init(high: 0, low: 1)) }
        loop.advance(by: .seconds(1))

        let events = heard.withLock { $0 }
        #expect(events.first == .opened)
        #expect(events.contains(.offer(meter: .um, reserved: .seconds(10))))
        let states = events.compactMap { if case .lease(let lease) = $0 { lease.state } else { nil } }
        #expect(states == [.held, .free])
    }

    private func request(by host: HostID) -> LeaseAcquire {
        LeaseAcquire(
            requestID: RequestID(high: host.low, low: 1), host: host, hostName: host.low == 1 ? "one" : "two",
            session: SessionID(high: 0, low: host.low), timeToLive: .seconds(120), transport: .usb)
    }

    /// Lets time pass until a call has returned.
    private func arriving<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await loop.advance(until: Task { try await call() })
    }
}
