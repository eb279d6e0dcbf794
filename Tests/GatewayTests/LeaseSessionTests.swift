import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// Sessions that ask before they use a meter, over virtual time (Docs/Leases.md).
@Suite(.timeLimit(.minutes(10)))
struct LeaseSessionTests {
    @Test func link_isOpenedOnlyAfterTheLease_whichIsGivenBackAfterTheLink() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        #expect(await session.state == "not-connected")
        #expect(await session.lease.state == .requesting)
        #expect(one.links.attempts == 0)

        await bench.advance(by: .seconds(2), one)

        #expect(await session.state == "data-available")
        #expect(bench.zone.holder(of: .um) == "pi1")
        let lease = await session.lease
        #expect(lease.state == .held)
        #expect(lease.holder == "pi1" && lease.token == 1 && lease.transport == "usb")
        #expect(try await bench.leave(one, session) == .none)
        #expect(bench.zone.holder(of: .um) == nil)
    }

    @Test(arguments: LeasePolicy.allCases)
    func lease_livesAsLongAsTheLink(policy: LeasePolicy) async throws {
        let bench = LeaseBench(policy)
        let one = bench.host(1)
        let session = try await one.pluggedIn()

        await bench.advance(by: .seconds(1800), in: .seconds(1), one) {
            #expect(await session.lease.state != .jeopardy)
        }

        #expect(await session.lease.state == .held)
        #expect(bench.zone.record(of: .um)?.token.rawValue == 1)
        #expect(one.links.attempts == 1)
        let renewals = one.link.times(of: .renew([.um])).count
        #expect((30...34).contains(renewals), "\(renewals) heartbeats in half an hour")
        #expect(try await bench.leave(one, session) == .none)
    }

    /// Rule 1.
    @Test(arguments: [true, false])
    func oneLostPacket_costsNothing(isRequest: Bool) async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)

        for _ in 0..<10 {
            one.link.lose(requests: isRequest ? 1 : 0, answers: isRequest ? 0 : 1)
            await bench.advance(by: .seconds(70), in: .seconds(1), one) {
                #expect(await session.lease.state == .held)
            }
        }

        #expect(one.links.attempts == 1)
        #expect(try await bench.leave(one, session) == .none)
    }

    /// The host learns of it with its next renewal, and stops in time if it is cut off after that.
    @Test func stricterPolicy_endsALinkThatIsHeldAlready() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)
        bench.zone.setPolicy(.strict)
        await bench.advance(by: .seconds(70), in: .seconds(1), one)
        #expect(await session.lease.policy == "strict")

        one.link.set(.unreachable)
        await bench.advance(by: .seconds(120), in: .seconds(1), one)

        #expect(one.links.openChannels == 0)
        one.link.heal()
        _ = try await bench.leave(one, session)
    }

    @Test func allMetersOfAHost_areRenewedInOneRequest() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let first = try await one.pluggedIn(.um25c)
        await bench.advance(by: .seconds(20), one)
        let second = try await one.pluggedIn(.tc66c, id: .tc, at: "/dev/ttyUSB1")
        await bench.advance(by: .seconds(300), in: .seconds(1), one)

        let renewals = one.link.requests.filter { if case .renew = $0 { true } else { false } }
        #expect(renewals.contains(.renew([.um, .tc])))
        #expect(renewals.count <= 7, "\(renewals)")
        #expect(try await bench.leave(one, first, second) == .none)
    }

    @Test func disconnect_givesTheLeaseBackAtOnce() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)

        await session.disconnect()
        await bench.advance(by: .milliseconds(250), one)

        #expect(bench.zone.holder(of: .um) == nil)
        #expect(await session.lease.state == .none)
        #expect(try await bench.leave(one, session) == .none)
    }

    /// Rule 8.
    @Test func lostLink_keepsTheLeaseForTenSeconds() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)

        one.links.unplug(.port)
        await session.vanished(from: .serial(path: .port))
        await bench.advance(by: .seconds(9), one)
        #expect(bench.zone.holder(of: .um) == "pi1")
        await bench.advance(by: .seconds(2), one)

        #expect(bench.zone.holder(of: .um) == nil)
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test func linkThatComesBackInTime_keepsItsToken() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)
        let meter = try #require(SimulatorCatalogue.standard.meter(.um25c))

        one.links.unplug(.port)
        await bench.advance(by: .seconds(4), one)
        one.links.plug(meter, at: .port)
        await bench.advance(by: .seconds(30), one)

        #expect(await session.state == "data-available")
        #expect(bench.zone.record(of: .um)?.token.rawValue == 1)
        #expect(!one.link.requests.contains(.release(.um)))
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test func failedAttempt_givesTheLeaseBack_beforeTheBackOff() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        one.links.refuse(.port, with: ChannelFailure(.busy, "somebody has it open"))
        let session = try await one.pluggedIn()

        await bench.advance(by: .milliseconds(500), in: .milliseconds(10), one)

        #expect(one.links.attempts == 1)
        #expect(bench.zone.holder(of: .um) == nil)
        one.links.refuse(.port, with: nil)
        await bench.advance(by: .seconds(5), one)
        #expect(await session.state == "data-available")
        #expect(bench.zone.record(of: .um)?.token.rawValue == 2)
        #expect(try await bench.leave(one, session) == .none)
    }

    // MARK: Two hosts

    @Test func meterThatAnotherHostHas_isLeftAlone_andTakenWhenItIsFree() async throws {
        let bench = LeaseBench(.keep)
        let (one, two) = (bench.host(1), bench.host(2))
        let first = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one, two)
        let second = try await two.pluggedIn()
        await bench.advance(by: .seconds(2), one, two)

        #expect(two.links.attempts == 0)
        let lease = await second.lease
        #expect(lease.state == .waiting && lease.holder == "pi1")
        await first.disconnect()
        await bench.advance(by: .seconds(2), one, two)
        #expect(await second.state == "data-available")
        #expect(await first.lease.state == .elsewhere)
        #expect(try await bench.leave(one, first).channels == 0)
        #expect(try await bench.leave(two, second) == .none)
    }

    /// L5: 135 s after the last renewal was received, and not before.
    @Test func deadHost_losesTheMeter_afterItsTimeAndTheLockDelay() async throws {
        let bench = LeaseBench(.strict)
        let (one, two) = (bench.host(1), bench.host(2))
        _ = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one, two)
        one.kill()
        let renewedAt = try #require(bench.zone.record(of: .um)?.renewedAt)
        let second = try await two.pluggedIn()

        await bench.advance(by: .seconds(132), in: .seconds(1), two)
        #expect(two.links.attempts == 0)
        #expect(await second.lease.state == .waiting)
        await bench.advance(by: .seconds(34), in: .seconds(1), two)

        #expect(await second.state == "data-available")
        let took = try #require(bench.zone.record(of: .um)?.renewedAt)
        #expect(took - renewedAt >= .seconds(135))
        #expect(try await bench.leave(two, second).channels == 0)
    }

    @Test(arguments: LeasePolicy.allCases)
    func takeover_cutsTheOtherHostOff(policy: LeasePolicy) async throws {
        let bench = LeaseBench(policy)
        let (one, two) = (bench.host(1), bench.host(2))
        let first = try await one.pluggedIn()
        let second = try await two.pluggedIn(isWanted: false)
        await bench.advance(by: .seconds(2), one, two)

        await second.connect(ConnectOptions(isTakeover: true))
        // It first asks who has the meter, which takes one more round trip.
        await bench.advance(by: .seconds(3), one, two) {
            let open = one.links.openChannels + two.links.openChannels
            #expect(policy == .keep || open <= 1)
        }

        #expect(await second.state == "data-available")
        #expect(one.links.openChannels == 0)
        #expect(await first.lease.holder == "pi2")
        // The loser waits, and does not take it back.
        await bench.advance(by: .seconds(300), in: .seconds(1), one, two)
        #expect(await second.state == "data-available")
        #expect(await first.state == "not-connected")
        _ = try await bench.leave(one, first)
        #expect(try await bench.leave(two, second) == .none)
    }

    /// The zone's store went back while this host was down (Docs/Leases.md#rule-5).
    @Test func tokens_goOn_whereTheZoneForgotThem_andTheHostWasStartedAgain() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1, tokens: [.um: FencingToken(rawValue: 7)])
        var heard = one.keeper.tokens.subscribe(buffer: 9).makeAsyncIterator()

        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)

        #expect(bench.zone.record(of: .um)?.token.rawValue == 8)
        #expect(await heard.next()?.value == .um)
        #expect(await one.keeper.greatestToken(of: .um)?.rawValue == 8)
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test func queue_isServedInTurn() async throws {
        let bench = LeaseBench(.keep)
        let (one, two, three) = (bench.host(1), bench.host(2), bench.host(3))
        let first = try await one.pluggedIn()
        let second = try await two.pluggedIn(isWanted: false)
        let third = try await three.pluggedIn(isWanted: false)
        await bench.advance(by: .seconds(2), one, two, three)
        await second.connect(ConnectOptions(standsInLine: true))
        await bench.advance(by: .seconds(2), one, two, three)
        await third.connect(ConnectOptions(standsInLine: true))
        await bench.advance(by: .seconds(35), in: .seconds(1), one, two, three)

        #expect(bench.zone.waiting(for: .um) == ["pi2", "pi3"])
        await first.disconnect()
        await bench.advance(by: .seconds(2), one, two, three)
        #expect(await second.state == "data-available")
        #expect(await third.state == "not-connected")
        await second.disconnect()
        await bench.advance(by: .seconds(2), one, two, three)
        #expect(await third.state == "data-available")
        for (host, session) in [(one, first), (two, second), (three, third)] {
            _ = try await bench.leave(host, session)
        }
        #expect(bench.loop.pendingTimers == 0)
    }

    /// Rule 5, for a restart: the old process is gone, so there is nothing to wait for.
    @Test func restartedHost_takesItsMeterAtOnce() async throws {
        let bench = LeaseBench(.strict)
        let before = bench.host(1, session: 10)
        _ = try await before.pluggedIn()
        await bench.advance(by: .seconds(2), before)
        before.kill()

        let after = bench.host(1, session: 11, previous: 10)
        let session = try await after.pluggedIn()
        await bench.advance(by: .seconds(2), after)

        #expect(await session.state == "data-available")
        #expect(bench.zone.record(of: .um)?.token.rawValue == 2)
        #expect(try await bench.leave(after, session).channels == 0)
    }

    /// Refused by a cloud of another version, or because somebody else was quicker: the holder is named at once,
    /// instead of at the end of the wait.
    @Test func takeover_endsWithTheHolder_whereItIsRefused() async throws {
        let bench = LeaseBench(.keep)
        let (one, two) = (bench.host(1), bench.host(2))
        let first = try await one.pluggedIn()
        let second = try await two.pluggedIn(isWanted: false)
        await bench.advance(by: .seconds(2), one, two)
        bench.zone.ignoreTakeovers()

        await second.connect(ConnectOptions(isTakeover: true))
        let waiting = Task { () async throws -> DeviceSession.DataWait in await second.waitForData(.seconds(30)) }
        let asked = bench.loop.now
        let outcome = try await bench.advance(until: waiting, one, two)

        guard case .elsewhere(let refusal) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(refusal.holder == "pi1")
        #expect(bench.loop.now - asked < .seconds(5))
        for (host, session) in [(one, first), (two, second)] { _ = try await bench.leave(host, session) }
    }

    /// The event stream was interrupted for a moment, as when a host moves from one copy of the cloud to another.
    @Test(arguments: LeasePolicy.allCases)
    func takeover_isSeenAsSoonAsTheStreamIsOpenAgain(policy: LeasePolicy) async throws {
        let bench = LeaseBench(policy)
        let (one, two) = (bench.host(1), bench.host(2))
        let first = try await one.pluggedIn()
        let second = try await two.pluggedIn(isWanted: false)
        await bench.advance(by: .seconds(2), one, two)
        bench.zone.setDeaf(true, HostID(high: 0x4000, low: 1))
        await second.connect(ConnectOptions(isTakeover: true))
        await bench.advance(by: .seconds(2), one, two)
        try #require(await first.state == "data-available")

        bench.zone.setDeaf(false, HostID(high: 0x4000, low: 1))
        await one.keeper.handle(.opened)
        await bench.advance(by: .seconds(2), one, two)

        #expect(await first.state == "not-connected")
        #expect(one.links.openChannels == 0)
        #expect(await second.state == "data-available")
        for (host, session) in [(one, first), (two, second)] { _ = try await bench.leave(host, session) }
    }

    // MARK: Joining, leaving, and not asking

    @Test func withoutLease_nobodyIsAsked() async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        let session = try await one.pluggedIn(isWanted: false)
        await session.connect(ConnectOptions(isExempt: true))
        await bench.advance(by: .seconds(2), one)

        #expect(await session.state == "data-available")
        #expect(bench.zone.record(of: .um) == nil)
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test(arguments: LeasePolicy.allCases)
    func joining_takesEffectWhileTheLinkIsUp(policy: LeasePolicy) async throws {
        let bench = LeaseBench(policy)
        let one = bench.host(1)
        let session = try await one.host.pluggedIn(.um25c)
        bench.loop.advance(by: .seconds(2))
        try #require(await session.state == "data-available")

        await session.use(one.keeper)
        await bench.advance(by: .seconds(3), one)

        #expect(await session.state == "data-available")
        #expect(await session.lease.state == .held)
        #expect(one.links.attempts == (policy == .keep ? 1 : 2))
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test func leaving_givesTheLeaseBack_andGoesOnAlone() async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)

        await session.use(nil)
        await bench.advance(by: .seconds(3), one)

        #expect(bench.zone.holder(of: .um) == nil)
        #expect(await session.state == "data-available")
        #expect(await session.lease == LeaseStatus(.none))
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test func revoked_isLetGo_andAskedForAgainLater() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)

        bench.zone.revoke(.um)
        await bench.advance(by: .seconds(5), one)
        #expect(one.links.openChannels == 0)
        #expect(bench.zone.holder(of: .um) == nil)
        await bench.advance(by: .seconds(30), one)

        #expect(await session.state == "data-available")
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test func cloudThatForgot_isToldAnew_underKeep() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)

        bench.zone.forget()
        await bench.advance(by: .seconds(70), in: .seconds(1), one)

        #expect(await session.lease.state == .held)
        #expect(one.links.attempts == 1)
        #expect(try await bench.leave(one, session) == .none)
    }

    /// Rule 10.
    @Test func meterWithAnotherID_isLeasedAsTheCloudCallsIt() async throws {
        let bench = LeaseBench(.strict)
        bench.zone.merge(.um, into: .tc)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(200), in: .seconds(1), one)

        #expect(await session.lease.state == .held)
        #expect(one.links.attempts == 1)
        #expect(await one.keeper.who().map(\.meter) == ["\(MeterID.tc)"])
        bench.zone.revoke(.tc)
        await bench.advance(by: .seconds(2), one)
        #expect(one.links.openChannels == 0)
        #expect(try await bench.leave(one, session) == .none)
    }

    // MARK: Observers and the end

    @Test func observers_seeALeaseThatLives_andOneThatRunsOut() async throws {
        let bench = LeaseBench(.keep)
        let (one, two) = (bench.host(1), bench.host(2))
        _ = try await one.pluggedIn()
        await bench.advance(by: .seconds(600), in: .seconds(1), one, two) {
            guard let seen = await two.keeper.who().first else { return }
            #expect(seen.state == "held" && seen.remaining_ms.map { $0 > 40_000 } == true)
        }
        // Renewals are not events, so the list was requested; but not more often than is useful.
        let lists = two.link.times(of: .list)
        #expect((8...30).contains(lists.count), "\(lists.count) lists in ten minutes")
        #expect(zip(lists.dropFirst(2), lists.dropFirst(3)).allSatisfy { $1 - $0 >= .seconds(10) })

        let last = try #require(bench.zone.record(of: .um)?.renewedAt)
        one.kill()
        await bench.advance(by: last + .seconds(119) - bench.loop.now, in: .seconds(1), two)
        #expect(await two.keeper.who().first?.state == "held")
        await bench.advance(by: .seconds(3), in: .seconds(1), two)
        #expect(await two.keeper.who().first?.state == "expired")
        #expect(try await bench.leave(two).channels == 0)
    }

    @Test func shutdown_doesNotWaitForACloudThatIsSilent() async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)
        one.link.set(.silent)
        let begin = bench.loop.now

        #expect(try await bench.leave(one, session) == .none)

        #expect(bench.loop.now - begin < .seconds(4))
        #expect(
            one.host.log.entries(saying: "leases not released at shutdown: other hosts wait until they expire").count
                == 1)
    }

    @Test func shutdown_givesBackALeaseWhoseGrantIsStillOnItsWay() async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .milliseconds(11), in: .milliseconds(11), one)
        try #require(bench.zone.holder(of: .um) == "pi1")
        #expect(one.links.attempts == 0)

        #expect(try await bench.leave(one, session) == .none)

        #expect(bench.zone.holder(of: .um) == nil)
    }
}
