import CoreTestKit
import Domain
import GatewayAPI
import Logging
import MeterTestKit
import Synchronization
import Testing

@testable import Gateway

/// The keeper by itself: a test gives the cloud's answers, and looks at what is said and called.
@Suite(.timeLimit(.minutes(10)))
struct LeaseKeeperTests {
    private let loop = VirtualLoop()
    private let keeper: LeaseKeeper
    private let log = LogBook()
    private static let own = HostID(high: 0x4000, low: 1)
    private static let other = HostID(high: 0x4000, low: 2)

    init() {
        let zone = SimulatedLeaseZone(loop: loop, policy: .keep)
        keeper = LeaseKeeper(
            identity: LeaseKeeper.Identity(
                host: Self.own, hostName: "pi1", session: SessionID(high: 0x4000, low: 1)),
            authority: zone.join(Self.own, name: "pi1"), zonePolicy: .keep, loop: loop, rng: SplitMix64(seed: 1),
            logger: log.logger)
    }

    /// On the keeper's loop.
    @discardableResult
    private func on<Value: Sendable>(_ body: @escaping @Sendable (isolated LeaseKeeper) -> Value) -> Value {
        loop.result { [keeper] in keeper.assumeIsolated { body($0) } }
    }

    private func status(_ meter: MeterID = .um) -> LeaseStatus { on { $0.status(of: meter) } }

    private static func lease(
        _ state: LeaseView.State = .held, of holder: HostID? = other, token: UInt64 = 5, meter: MeterID = .um,
        remaining: Duration = .seconds(100), policy: LeasePolicy = .keep
    ) -> LeaseView {
        LeaseView(
            meter: meter, state: state, holder: holder, holderName: holder == own ? "pi1" : holder.map { _ in "pi2" },
            token: FencingToken(rawValue: token),
            terms: LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy), transport: .ble,
            acquiredAt: "2026-11-21T13:40:05Z", remaining: remaining, waiting: ["pi9"])
    }

    private func ask(_ intent: LeaseIntent = .resume, for meter: MeterID = .um) {
        on { $0.asked(for: meter, intent, over: .usb, isUp: false) }
    }

    private func grant(_ meter: MeterID = .um, token: UInt64 = 6, policy: LeasePolicy = .keep) {
        let lease = Self.lease(of: Self.own, token: token, meter: meter, remaining: .seconds(120), policy: policy)
        on { $0.acquired(.success(.granted(lease)), meter, sentAt: $0.loop.now) }
    }

    private func refuse(_ lease: LeaseView?) {
        on { $0.acquired(.success(.refused(.held, lease, retryAfter: .seconds(60))), .um, sentAt: $0.loop.now) }
    }

    private func fail(_ kind: SyncFailure.Kind = .network) {
        on { $0.acquired(.failure(SyncFailure(kind, "no")), .um, sentAt: $0.loop.now) }
    }

    /// The calls so far, without those for the list.
    private func calls() async -> [LeaseKeeper.Call] {
        keeper.callSink.finish()
        var calls: [LeaseKeeper.Call] = []
        for await call in keeper.calls { if case .list = call {} else { calls.append(call) } }
        return calls
    }

    // MARK: Waiting

    /// Nobody waits for the return of what is not being returned.
    @Test func leaseThatStays_isNotAwaited() async {
        await keeper.givenBack(.um, within: .seconds(30))
        ask()
        await keeper.givenBack(.um, within: .seconds(30))
        grant()
        await keeper.givenBack(.um, within: .seconds(30))

        #expect(status().state == LeaseStatus(.held).state)
    }

    /// Who lets go before the grant came is answered when that is given back: others may ask for the meter then.
    @Test func grantOnItsWay_isGivenBackFirst() async throws {
        ask()
        on { $0.cancel(.um) }
        let began = Mutex(false)
        async let callsLeft = {
            began.withLock { $0 = true }
            await keeper.givenBack(.um, within: .seconds(30))
            return await keeper.callsUnderWay
        }()
        try await eventually("the person waits") { began.withLock { $0 } }
        grant()
        on { $0.released(.success(()), HeldLease(meter: .um, token: FencingToken(rawValue: 6)), of: .um) }
        for call in await calls() { on { $0.callEnded(call) } }

        #expect(await callsLeft == 0)
    }

    /// A place in the queue that the cloud did not give is asked for with the next refusal again.
    @Test func queueThatWasNotJoined_isAskedForAgain() async throws {
        let cloud = ClosedQueue(Self.lease(remaining: .seconds(10)))
        let keeper = LeaseKeeper(
            identity: LeaseKeeper.Identity(
                host: Self.own, hostName: "pi1", session: SessionID(high: 0x4000, low: 1)),
            authority: cloud, zonePolicy: .keep, loop: loop, rng: SplitMix64(seed: 1), logger: log.logger)
        let running = Task { await keeper.run() }
        defer { running.cancel() }
        await keeper.asked(for: .um, LeaseIntent(waitsInLine: true, isAsked: true), over: .usb, isUp: false)

        let patience = Patience("a place is asked for again")
        while cloud.enqueues < 2 {
            loop.advance(by: .seconds(1))
            try await eventually("no call is under way") { await keeper.callsUnderWay == 0 }
            try await patience.turn()
        }
    }

    // MARK: What people see

    /// Whatever is known of another host's lease is shown, in each state in which it matters.
    @Test func leaseOfAnotherHost_isShownWhole() {
        func expectOther(_ state: LeaseStatus.State, remaining: Int64 = 100_000) {
            var expected = LeaseStatus(state)
            (expected.holder, expected.holder_id, expected.token) = ("pi2", Self.other.description, 5)
            (expected.transport, expected.policy, expected.since) = ("ble", "keep", "2026-11-21T13:40:05Z")
            (expected.remaining_ms, expected.waiting) = (remaining, ["pi9"])
            #expect(status() == expected)
        }
        #expect(status() == LeaseStatus(.none))
        on { $0.handle(.lease(Self.lease())) }
        expectOther(.elsewhere)
        on { $0.handle(.lease(Self.lease(.revoking))) }
        expectOther(.elsewhere)
        on { $0.handle(.lease(Self.lease(.expired, remaining: .zero))) }
        expectOther(.expired, remaining: 0)
        on { $0.handle(.lease(Self.lease())) }
        ask()
        expectOther(.waiting)
        refuse(Self.lease())
        expectOther(.waiting)
        for _ in 0..<2 {
            on { $0.react(.um) { machine, now, _ in machine.wanted(LeaseIntent(isAsked: true), at: now) } }
            fail()
        }
        expectOther(.waiting)
    }

    @Test func freeMeter_thatSomebodyWaitsFor_showsTheQueueAlone() {
        on { $0.handle(.lease(Self.lease(.free, of: nil, remaining: .zero))) }
        #expect(status() == LeaseStatus(.none))
        ask()
        var expected = LeaseStatus(.requesting)
        expected.waiting = ["pi9"]
        #expect(status() == expected)
    }

    /// The holder's own view counts from its request, to nothing and not below it.
    @Test func ownLease_isShownInItsPhases() {
        ask()
        #expect(status() == LeaseStatus(.requesting))
        grant()
        for (second, state, remaining) in [
            (0, LeaseStatus.State.held, 120_000), (79, .held, 41_000), (80, .jeopardy, 40_000), (108, .lost, 12_000),
            (200, .lost, 0),
        ] as [(Int, LeaseStatus.State, Int64)] {
            loop.advance(by: .seconds(second) - (loop.now - .origin))
            var expected = LeaseStatus(state)
            (expected.holder, expected.holder_id, expected.token) = ("pi1", Self.own.description, 6)
            (expected.transport, expected.policy, expected.since) = ("usb", "keep", "2026-11-21T13:40:05Z")
            (expected.remaining_ms, expected.waiting) = (remaining, ["pi9"])
            #expect(status() == expected, "\(second)")
        }
        // Nobody holds what is being given back, as far as people are concerned.
        on { $0.attached(.um, nil) }
        #expect(status() == LeaseStatus(.none))
    }

    /// What an earlier run of this host left, or what could not be given back, is at no other host.
    @Test func leaseOfAnEarlierRun_isNobodys_hereAndHeldForTheZone() {
        on { $0.handle(.lease(Self.lease(of: Self.own))) }
        #expect(status() == LeaseStatus(.none))
        #expect(on { $0.who() }.map(\.holder) == ["pi1"])
        on { $0.handle(.lease(Self.lease(.expired, of: Self.own, remaining: .zero))) }
        #expect(status() == LeaseStatus(.none))
        #expect(on { $0.who() }.map(\.state) == ["expired"])
    }

    /// An event about the own grant may come after the answer to the release, on a slow machine.
    @Test func grantThatIsHeardOf_afterTheRelease_isNoLease() {
        ask()
        grant()
        on { $0.attached(.um, nil) }
        on { $0.released(.success(()), HeldLease(meter: .um, token: FencingToken(rawValue: 6)), of: .um) }
        on { $0.handle(.lease(Self.lease(of: Self.own, token: 6))) }
        #expect(status() == LeaseStatus(.none))
        #expect(on { $0.who() }.isEmpty)
    }

    /// Whoever took what is being given back is shown at once.
    @Test func nextHolder_isShown_whileTheOwnLeaseIsGivenBack() {
        ask()
        grant()
        on { $0.attached(.um, nil) }
        on { $0.handle(.lease(Self.lease(token: 7))) }
        #expect(status().state == .elsewhere && status().holder == "pi2")
    }

    /// A link without a lease ends with the lease that it gets; however else it ends, that is no lease.
    @Test func linkWithoutALease_endsInTheLog_asItEnded() {
        let token = FencingToken(rawValue: 6)
        for (after, action, end) in [
            (.leased(token), .none, .leased), (.none, .none, .givenBack), (.none, .withdraw(.barred), .revoked),
            (.none, .withdraw(.takenOver), .takenOver), (.none, .withdraw(.unwanted), .givenBack),
        ] as [(LeaseMachine.Use, LeaseMachine.Action, LogHolding.End)] {
            #expect(LogHolding.End(.unleased, after, action) == end, "\(after) \(action)")
        }
        #expect(LogHolding.End(.leased(token), .leased(FencingToken(rawValue: 7)), .none) == .givenBack)
    }

    /// What nobody makes any more is no call under way.
    @Test func callAfterTheEnd_isNotWaitedFor() {
        keeper.callSink.finish()
        ask()
        #expect(on { $0.callsUnderWay } == 0)
    }

    /// Another host's lease is not this one's, whatever the board still says.
    @Test func ownLease_showsNothingOfAnothers() {
        ask()
        grant()
        on { $0.handle(.lease(Self.lease(token: 6))) }
        #expect(status().since == nil && status().waiting == [] && status().holder == "pi1")
    }

    @Test func linkWithoutALease_showsWhoElseHasOne_onceThatIsKnown() {
        ask()
        fail()
        on { $0.react(.um) { machine, now, _ in machine.wanted(LeaseIntent(isAsked: true), at: now) } }
        fail()
        #expect(status() == LeaseStatus(.unleased))
        on { $0.handle(.lease(Self.lease())) }
        #expect(status() == LeaseStatus(.unleased))
        refuse(Self.lease())
        #expect(status().state == .unleased && status().holder == "pi2" && status().token == 5)
    }

    @Test func hostThatMayOnlyLook_saysSo_evenBeforeItKnowsWhoHasWhat() {
        #expect(status().read_only == nil)
        on { $0.roleIs(.readOnly) }
        #expect(status().read_only == true)
        #expect(on { $0.role } == .readOnly)
        #expect(log.entries(saying: "host became read-only in its cloud zone").count == 1)
        on { $0.roleIs(.readOnly) }
        #expect(log.entries(saying: "host became read-only in its cloud zone").count == 1)
        on { $0.roleIs(.full) }
        #expect(status().read_only == nil)
    }

    /// All leases of the zone by their meters, this host's as it sees them itself.
    @Test func who_listsEachMeterOnce() throws {
        on {
            $0.listed(
                .success([
                    Self.lease(meter: .tc), Self.lease(.revoking, meter: .numbered(3)),
                    Self.lease(.free, of: nil, meter: .numbered(4), remaining: .zero),
                    Self.lease(.expired, meter: .numbered(5), remaining: .zero),
                    Self.lease(of: Self.own, token: 1),
                ]))
        }
        ask()
        grant(token: 7)
        let who = on { $0.who() }
        let expected: [(MeterID, String, Bool)] = [
            (.um, "held", true), (.tc, "held", false), (.numbered(3), "held", false), (.numbered(4), "none", false),
            (.numbered(5), "expired", false),
        ]
        #expect(who.count == 5)
        #expect(who.map(\.meter) == who.map(\.meter).sorted())
        for (meter, state, isMine) in expected {
            let entry = try #require(who.first { $0.meter == meter.description })
            #expect(entry.state == state && entry.mine == isMine, "\(meter)")
            #expect(entry.waiting == ["pi9"])
            guard meter == .tc || meter == .um else { continue }
            #expect(entry.holder == (isMine ? "pi1" : "pi2") && entry.token == (isMine ? 7 : 5))
            #expect(entry.transport == (isMine ? "usb" : "ble") && entry.policy == "keep")
            #expect(entry.remaining_ms == (isMine ? 120_000 : 100_000) && entry.since == "2026-11-21T13:40:05Z")
            #expect(entry.holder_id == (isMine ? Self.own : Self.other).description)
        }
        #expect(on { $0.leasedElsewhere(.tc) } == .tc)
        #expect(on { $0.leasedElsewhere(.um) } == nil)
        #expect(on { $0.held(.um)?.token.rawValue } == 7)
        #expect(on { $0.held(.tc)?.token.rawValue } == nil)
    }

    // MARK: What is said

    @Test func session_isTold_whoHasTheMeter() {
        let verdicts = Told()
        on { keeper in keeper.attached(.um) { verdicts.add($0) } }
        ask()
        refuse(Self.lease())
        #expect(
            verdicts.all == [.refused(LinkRefusal(reason: .held, holder: "pi2", remaining: .seconds(100)))])
        on { $0.react(.um) { machine, now, _ in machine.wanted(LeaseIntent(isAsked: true), at: now) } }
        refuse(Self.lease(of: Self.own))
        on { $0.react(.um) { machine, now, _ in machine.wanted(LeaseIntent(isAsked: true), at: now) } }
        refuse(nil)
        #expect(
            verdicts.all.dropFirst() == [
                .refused(
                    LinkRefusal(reason: .held, holder: "an earlier run of this host", remaining: .seconds(100))),
                .refused(LinkRefusal(reason: .held, holder: nil, remaining: nil)),
            ])
    }

    @Test func cloudThatDoesNotAnswer_isSaidOnce_andThatItDoesAgain() {
        for round in 1...2 {
            for _ in 0..<3 { on { $0.noted(Result<Void, SyncFailure>.failure(SyncFailure(.network, "gone"))) } }
            #expect(on { $0.lastFailure } == "gone")
            #expect(log.entries(saying: "cloud request failed").count == round)
            #expect(log.entries(saying: "cloud recovered").count == round - 1)
            // A refusal is an answer too.
            on { keeper in
                round == 1
                    ? keeper.noted(Result<Void, SyncFailure>.success(()))
                    : keeper.noted(Result<Void, SyncFailure>.failure(SyncFailure(.readOnly, "look")))
            }
            #expect(on { $0.lastFailure } == nil)
            #expect(log.entries(saying: "cloud recovered").count == round)
        }
    }

    // MARK: What is called

    /// A request is repeated as it was, until it was answered; then the next is a new one.
    @Test func request_keepsItsID_untilItIsAnswered() async {
        ask()
        fail()
        loop.advance(by: .seconds(2))
        refuse(Self.lease())
        loop.advance(by: .seconds(60))
        let requests = await calls().compactMap { call -> LeaseAcquire? in
            if case .acquire(let request, _, _) = call { request } else { nil }
        }
        #expect(requests.count >= 3)
        #expect(requests[0].requestID == requests[1].requestID && requests[1].requestID != requests[2].requestID)
        #expect(requests.allSatisfy { $0.host == Self.own && $0.hostName == "pi1" && $0.transport == .usb })
        #expect(requests[0].tokenFloor == nil && requests[2].tokenFloor?.rawValue == 5, "what was seen since")
    }

    /// What the authority did not answer has failed, for each meter of a batch by itself.
    @Test func shortAnswer_isAFailureOfTheRest() {
        ask()
        grant()
        ask(for: .tc)
        grant(.tc, token: 9)
        loop.advance(by: .seconds(50))
        let leases = [
            HeldLease(meter: .um, token: FencingToken(rawValue: 6)),
            HeldLease(meter: .tc, token: FencingToken(rawValue: 9)),
        ]
        on {
            let renewed = Self.lease(of: Self.own, token: 6, remaining: .seconds(120))
            $0.renewed(.success([.renewed(renewed)]), leases, of: [.um, .tc], sentAt: $0.loop.now)
        }
        #expect(status(.um).remaining_ms == 120_000 && status(.tc).remaining_ms == 70_000)
        on {
            $0.renewed(
                .success([.lost(.unknown, nil), .lost(.takenOver, Self.lease(token: 10, meter: .tc))]), leases,
                of: [.um, .tc], sentAt: $0.loop.now)
        }
        #expect(status(.um).state == .unleased)
        #expect(status(.tc).state != .held)
    }

    /// A stricter policy takes effect for all meters at once, whether it comes with a renewal or a grant.
    @Test(arguments: [true, false]) func policyOfALease_isThatOfTheZone(isGrant: Bool) {
        ask()
        grant()
        ask(for: .tc)
        grant(.tc, token: 9, policy: isGrant ? .strict : .keep)
        if !isGrant {
            let leases = [HeldLease(meter: .tc, token: FencingToken(rawValue: 9))]
            let lease = Self.lease(
                of: Self.own, token: 9, meter: .tc, remaining: .seconds(120), policy: .strict)
            on {
                $0.renewed(
                    .success([.renewed(lease)]), leases, of: [.tc], sentAt: $0.loop.now + .milliseconds(1))
            }
        }
        // Under strict the other ends at its hard stop, too.
        loop.advance(by: .milliseconds(107_999))
        #expect(status(.um).state == .jeopardy)
        loop.advance(by: .milliseconds(2))
        #expect(status(.um).state == .none)
    }

    /// One that may only look asks for nothing any more, at once where it is known who has what.
    @Test(arguments: [true, false]) func roleInTheZone_isInForce_onceTheLeasesAreKnown(isKnown: Bool) {
        if isKnown { on { $0.listed(.success([])) } }
        ask()
        on { $0.roleIs(.readOnly) }
        #expect(status().state == (isKnown ? .unleased : .requesting))
        on { $0.listed(.success([])) }
        #expect(status().state == .unleased)
        // That is as it should be, and nothing to warn of.
        #expect(log.entries(saying: "meter used without lease").map(\.level) == [.debug])
        on { $0.roleIs(.full) }
        refuse(Self.lease())
        #expect(status().holder == "pi2")
    }

    /// A cloud that does not answer, or another host that has the meter, is something to look at.
    @Test func linkWithoutALease_isWarnedOf() {
        ask()
        fail()
        on { $0.react(.um) { machine, now, _ in machine.wanted(LeaseIntent(isAsked: true), at: now) } }
        fail()
        #expect(log.entries(saying: "meter used without lease").map(\.level) == [.warning])
        ask(for: .tc)
        grant(.tc, token: 9)
        loop.advance(by: .seconds(110))
        let leases = [HeldLease(meter: .tc, token: FencingToken(rawValue: 9))]
        let taken = Self.lease(token: 10, meter: .tc)
        on { $0.renewed(.success([.lost(.takenOver, taken)]), leases, of: [.tc], sentAt: $0.loop.now) }
        #expect(status(.tc).state == .unleased)
        #expect(
            log.entries(saying: "meter used without lease").map(\.level).allSatisfy { $0 == .warning })
    }

    /// A meter that nobody uses, of which no token is known and for which no call is under way, is forgotten.
    @Test func meterThatNobodyUses_isForgotten() async throws {
        on { $0.attached(.um) { _ in } }
        #expect(on { $0.meters } == [.um])
        on { $0.attached(.um, nil) }
        #expect(on { $0.meters } == [])

        on { $0.attached(.um) { _ in } }
        ask()
        on { $0.attached(.um, nil) }
        #expect(on { $0.meters } == [.um], "its request is under way")
        let under = on { $0.callsUnderWay }
        let request = try #require(await calls().first)
        on { $0.callEnded(request) }
        #expect(on { $0.meters } == [])
        #expect(on { $0.callsUnderWay } == under - 1)

        on { $0.handle(.lease(Self.lease(meter: .tc))) }
        on { $0.attached(.tc) { _ in } }
        on { $0.handle(.lease(Self.lease(meter: .tc))) }
        on { $0.attached(.tc, nil) }
        #expect(on { $0.meters } == [.tc], "its token is kept")
    }

    /// One list at a time, and a next one once it has come or failed. It is asked for at once where the event stream
    /// opened meanwhile: what changed before was told by no event, and the list may have missed it.
    @Test func list_isAskedForOnceAtATime_andAgain_whereTheStreamOpenedMeanwhile() {
        let before = on { $0.callsUnderWay }
        on { $0.handle(.opened) }
        on { $0.handle(.opened) }
        #expect(on { $0.callsUnderWay } == before + 1)
        for callsThen in [before + 1, before] {
            on { $0.listed(.failure(SyncFailure(.network, "no"))) }
            on { $0.callEnded(.list) }
            #expect(on { $0.callsUnderWay } == callsThen)
        }
        on { $0.handle(.opened) }
        #expect(on { $0.callsUnderWay } == before + 1)
    }
}

/// Verdicts, as they come.
private final class Told: Sendable {
    private let state = Mutex<[LinkVerdict]>([])

    var all: [LinkVerdict] { state.withLock { $0 } }
    func add(_ verdict: LinkVerdict) { state.withLock { $0.append(verdict) } }
}

extension MeterID {
    fileprivate static func numbered(_ number: UInt64) -> MeterID { .mac(MACAddress(bits: 0x0200_0000_0000 + number)) }
}

/// A cloud in which another host has every meter, and that lets nobody stand in line.
private final class ClosedQueue: LeaseAuthority {
    private let lease: LeaseView
    private let count = Mutex(0)

    init(_ lease: LeaseView) { self.lease = lease }

    var enqueues: Int { count.withLock { $0 } }

    func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome {
        .refused(.held, lease, retryAfter: .seconds(5))
    }

    func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome] { [] }
    func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure) {}
    func leases() async throws(SyncFailure) -> [LeaseView] { [lease] }

    func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {
        count.withLock { $0 += 1 }
        throw SyncFailure(.serviceUnavailable, "no")
    }

    func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) {}
}
