import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// Sessions whose cloud is away (Docs/Leases.md#rule-4).
@Suite(.timeLimit(.minutes(10)))
struct LeaseAwaySessionTests {
    /// Rule 2: the watchdog does not depend on the task that renews.
    @Test func hardStop_cutsTheLink_underStrict_evenWhenTheKeeperHangs() async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)
        one.link.set(.silent)
        // No task runs from here on: the loop's own timers must be enough.
        let granted = try #require(one.link.times(of: .acquire(.um)).first)
        bench.loop.advance(by: granted + .seconds(107) - bench.loop.now)
        #expect(one.links.openChannels == 1)
        #expect(await session.lease.state == .jeopardy)

        bench.loop.advance(by: .seconds(1))

        #expect(one.links.openChannels == 0)
        let last = one.links.writes(to: .port).last?.time
        #expect(try #require(last) < granted + .seconds(108))
        bench.loop.advance(by: .seconds(600))
        #expect(one.links.attempts == 1)
        one.link.heal()
        #expect(try await bench.leave(one, session).channels == 0)
    }

    @Test func jeopardy_stopsCommands_underStrict_andReadingGoesOn() async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)
        one.link.set(.unreachable)
        await bench.advance(by: .seconds(85), in: .seconds(1), one)

        let before = await session.status().counters.readings
        await bench.advance(by: .seconds(5), one)
        #expect(await session.status().counters.readings > before)
        await #expect(throws: GatewayError.self) { try await session.perform(MeterCommand(.nextScreen)) }

        one.link.heal()
        await bench.advance(by: .seconds(10), one)
        #expect(await session.lease.state == .held)
        let sending = Task { () async throws -> Void in try await session.perform(MeterCommand(.nextScreen)) }
        try await bench.advance(until: sending, one)
        #expect(try await bench.leave(one, session) == .none)
    }

    /// A supply is off a second before the lease is lost, whatever the policy says about the link.
    @Test(arguments: LeasePolicy.allCases)
    func lostLease_endsTheSupply(policy: LeasePolicy) async throws {
        let bench = LeaseBench(policy)
        let one = bench.host(1)
        let session = try await one.pluggedIn(.ppk2, catalogue: .standard.supplying(upTo: 3600))
        await bench.advance(by: .seconds(2), one)
        func supply() async throws {
            let sending = Task { () async throws -> Void in
                try await session.perform(MeterCommand(.sourceVoltage, 3300))
            }
            try await bench.advance(until: sending, one)
        }
        try await supply()
        await bench.advance(by: .seconds(2), one)
        #expect(await session.status().told?.details["source_mV"] == .number(3300))
        one.link.set(.unreachable)
        let granted = try #require(one.link.times(of: .acquire(.um)).first)
        await bench.advance(by: granted + .seconds(106) - bench.loop.now, in: .seconds(1), one)
        #expect(!one.links.writes(to: .port).contains { $0.bytes == [0x0C, 0] && $0.time > granted + .seconds(10) })
        await bench.advance(by: .seconds(60), in: .seconds(1), one)

        let off = one.links.writes(to: .port).filter { $0.bytes == [0x0C, 0] && $0.time > granted + .seconds(10) }
        #expect(off.map(\.time) == [granted + .seconds(107)])
        #expect(await session.status().told?.details["source_mV"] == nil)
        #expect(one.links.openChannels == (policy == .keep ? 1 : 0))
        await #expect(throws: GatewayError.self) { try await session.perform(MeterCommand(.sourceVoltage, 3300)) }
        one.link.heal()
        await bench.advance(by: .seconds(90), in: .seconds(1), one)
        if policy == .keep { try await supply() }
        #expect(try await bench.leave(one, session) == .none)
        if policy == .keep { #expect(one.links.writes(to: .port).suffix(2).map(\.bytes) == [[0x0C, 0], [0x07]]) }
    }

    @Test func lostLease_keepsTheLink_underKeep_andComesBack() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)
        one.link.set(.unreachable)
        await bench.advance(by: .seconds(300), in: .seconds(1), one)

        #expect(await session.state == "data-available")
        #expect(await session.lease.state == .lost)
        one.link.heal()
        await bench.advance(by: .seconds(40), one)
        #expect(await session.lease.state == .held)
        #expect(one.links.attempts == 1)
        #expect(try await bench.leave(one, session) == .none)
    }

    /// Rule 4.
    @Test func conflict_isShown_underKeep_whenAnotherHostTookItMeanwhile() async throws {
        let bench = LeaseBench(.keep)
        let (one, two) = (bench.host(1), bench.host(2))
        let first = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one, two)
        one.link.set(.unreachable)
        bench.zone.setDeaf(true, one.keeper.identity.host)
        await bench.advance(by: .seconds(150), in: .seconds(1), one, two)
        let second = try await two.pluggedIn()
        await bench.advance(by: .seconds(5), one, two)
        try #require(await second.lease.state == .held)

        one.link.heal()
        await bench.advance(by: .seconds(40), one, two)

        let lease = await first.lease
        #expect(lease.state == .unleased && lease.holder == "pi2")
        #expect(await first.state == "data-available")
        _ = try await bench.leave(one, first)
        #expect(try await bench.leave(two, second).channels == 0)
    }

    @Test func unreachableCloud_isNoHindrance_underKeep() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1)
        one.link.set(.unreachable)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(10), one)

        #expect(await session.state == "data-available")
        #expect(await session.lease.state == .unleased)
        let recoveries = one.keeper.recoveries.subscribe()
        let grants = one.keeper.grants.subscribe()
        one.link.heal()
        await bench.advance(by: .seconds(90), in: .seconds(1), one)
        var iterator = recoveries.makeAsyncIterator()
        #expect(await iterator.next() != nil, "others that wait for the cloud are told")
        var granted = grants.makeAsyncIterator()
        #expect(await granted.next() != nil)
        #expect(await session.lease.state == .held)
        #expect(one.links.attempts == 1)
        #expect(try await bench.leave(one, session) == .none)
    }

    @Test func unreachableCloud_permitsNothing_underStrict() async throws {
        let bench = LeaseBench(.strict)
        let one = bench.host(1)
        one.link.set(.unreachable)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(300), in: .seconds(1), one)

        #expect(one.links.attempts == 0)
        #expect(await session.lease.state == .requesting)
        #expect(try await bench.leave(one, session) == .none)
    }

    /// A host can be strict for itself in a zone that keeps.
    @Test func hostThatIsStrict_stopsByItself_inAZoneThatKeeps() async throws {
        let bench = LeaseBench(.keep)
        let one = bench.host(1, policy: .strict)
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(2), one)
        one.link.set(.unreachable)
        await bench.advance(by: .seconds(110), in: .seconds(1), one)

        #expect(one.links.openChannels == 0)
        #expect(await session.lease.state == .requesting)
        #expect(try await bench.leave(one, session) == .none)
    }
}
