import CoreTestKit
import Domain
import Gateway
import MeterTestKit
import Testing

/// Readings on their way from the host that has a meter to one that watches it, over virtual time (Docs/Relay.md).
@Suite(.timeLimit(.minutes(10)))
struct RelayTests {
    /// A host that has a meter, and what it sends.
    private struct Holder {
        let bench = LeaseBench(.keep)
        let relay: SimulatedRelay
        let host: LeaseHost
        let session: DeviceSession
        let uplink: RelayUplink

        init(shares: Bool = true) async throws {
            relay = SimulatedRelay(bench.zone)
            host = bench.host(1)
            session = try await host.pluggedIn()
            uplink = RelayUplink(
                link: relay.link(of: .numbered(1), named: "pi1"), keeper: host.keeper, shares: shares,
                loop: bench.loop, logger: host.host.log.logger
            ) { [session] _ in session.relaySource }
            await bench.advance(by: .seconds(2), host)
        }

        func interest(_ seconds: Int64 = 30) async {
            await uplink.handle(.interest(meter: .um, remaining: .seconds(seconds), wantsAll: false))
        }

        /// Lets time pass until so many batches arrived in all.
        func advance(untilBatches count: Int) async throws {
            let patience = Patience("\(count) batches arrived")
            while relay.parcels.count < count {
                await bench.advance(by: .milliseconds(250), host)
                try await patience.turn()
            }
        }

        func watcher(_ number: UInt64 = 2, _ changes: ChangeMarks = ChangeMarks()) -> RelayWatcher {
            RelayWatcher(
                link: relay.link(of: .numbered(number), named: "pi\(number)"), host: .numbered(number),
                changes: changes, loop: bench.loop,
                logger: host.host.log.logger)
        }

        func leave() async throws -> Leftovers {
            await uplink.shutdown()
            return try await bench.leave(host, session)
        }
    }

    @Test func nothing_isSent_whileNobodyWatches() async throws {
        let holder = try await Holder()
        await holder.bench.advance(by: .seconds(30), holder.host)

        #expect(holder.relay.parcels.isEmpty)
        #expect(await holder.uplink.count == 0)
        #expect(try await holder.leave() == .none)
    }

    @Test func readings_areSent_underTheLeasesToken_untilTheInterestIsOver() async throws {
        let holder = try await Holder()
        let watching = holder.relay.link(of: .numbered(2), named: "pi2").watch(.um, wantsAll: false)
        await holder.interest()
        try await holder.advance(untilBatches: 5)
        await holder.bench.advance(by: .seconds(31), holder.host)
        let sent = holder.relay.parcels.count
        await holder.bench.advance(by: .seconds(10), holder.host)

        #expect(holder.relay.parcels.allSatisfy { $0.token == FencingToken(rawValue: 1) })
        #expect(holder.relay.parcels.map(\.batch.number) == holder.relay.parcels.map(\.batch.number).sorted())
        #expect(holder.relay.parcels.flatMap(\.batch.readings).first?.reading[.voltage] != nil)
        #expect(holder.relay.parcels.count == sent)
        #expect(await holder.uplink.count == 0)
        withExtendedLifetime(watching) {}
        #expect(try await holder.leave() == .none)
    }

    @Test func holder_thatIsToldThatNobodyWatches_stops() async throws {
        let holder = try await Holder()
        await holder.interest()
        #expect(await holder.uplink.count == 1)
        await holder.interest(0)
        #expect(await holder.uplink.count == 0)
        #expect(try await holder.leave() == .none)
    }

    /// What an earlier sending set off ends late, and is none of the next one's business.
    @Test func interest_thatComesBack_isNotEndedByWhatItEnded() async throws {
        let holder = try await Holder()
        let watching = holder.relay.link(of: .numbered(2), named: "pi2").watch(.um, wantsAll: false)
        for round in 1...20 {
            await holder.interest()
            try await holder.advance(untilBatches: holder.relay.parcels.count + 1)
            await holder.interest(0)
            await holder.interest()
            await holder.bench.advance(by: .seconds(1), holder.host)
            #expect(await holder.uplink.count == 1, "round \(round)")
        }
        withExtendedLifetime(watching) {}
        #expect(try await holder.leave() == .none)
    }

    @Test func interest_inAMeterThatThisHostDoesNotHave_isNotAnswered() async throws {
        let holder = try await Holder()
        await holder.uplink.handle(.interest(meter: .other, remaining: .seconds(30), wantsAll: false))
        #expect(await holder.uplink.count == 0)
        #expect(try await holder.leave() == .none)
    }

    @Test func observer_showsWhatArrives_withItsHolderAndItsOwnTime() async throws {
        let holder = try await Holder()
        let watcher = holder.watcher()
        var readings = await watcher.watch(.um, wantsAll: false).makeAsyncIterator()
        try await eventually("it watches") { holder.relay.watcherCount == 1 }
        await holder.interest()
        try await holder.advance(untilBatches: 1)
        let first = await readings.next()?.value

        #expect(first?.origin?.holder == "pi1")
        #expect(first?.origin?.token == FencingToken(rawValue: 1))
        #expect(first?.reading[.voltage] != nil)
        #expect(first?.missed == 0)
        #expect(
            first.map { abs($0.wallTime.millisecondsSince1970 - holder.bench.loop.wallNow.millisecondsSince1970) }
                ?? .max <= 1000)
        await watcher.shutdown()
        #expect(try await holder.leave() == .none)
    }

    /// A host that keeps its readings to itself says that, once for each word that somebody watches, and sends none. To ask
    /// who does so begins nothing: a long list would have a stream for each meter.
    @Test func holder_thatSharesNothing_saysSo_andWhoAsksForThatOpensNoStream() async throws {
        let holder = try await Holder(shares: false)
        let watcher = holder.watcher()
        #expect(await watcher.unshared(among: [.um, .other]).isEmpty)
        #expect(await watcher.count == 0)
        async let looked = watcher.latest(of: [.um], within: .seconds(20))
        try await eventually("it watches") { holder.relay.watcherCount == 1 }
        await holder.interest()
        try await holder.advance(untilBatches: 1)
        await holder.bench.advance(by: .seconds(5), holder.host)

        #expect(await looked.isEmpty)
        #expect(await watcher.unshared(among: [.um, .other]) == [.um: "pi1"])
        #expect(holder.relay.parcels.count == 1)
        #expect(holder.relay.parcels.first?.batch.readings.isEmpty == true)
        #expect(await holder.uplink.count == 0)
        await watcher.shutdown()
        #expect(try await holder.leave() == .none)
    }

    /// What a meter does at its holder is seen before it brings a reading, and is over with its holder.
    @Test func stateAtTheHolder_isKnown_untilAnotherHostHasTheMeter() async throws {
        let holder = try await Holder()
        let watcher = holder.watcher()
        let looked = Task { () async throws -> Bool in
            await watcher.latest(of: [.um], within: .seconds(20)).isEmpty
        }
        try await eventually("it watches") { holder.relay.watcherCount == 1 }
        await holder.interest()
        let isEmpty = try await holder.bench.advance(until: looked, holder.host)
        #expect(!isEmpty)
        let before = await watcher.states(of: [.um, .other])
        let lease = try #require(holder.bench.zone.record(of: .um))
        holder.relay.tell(.holder(LeaseView(lease, of: .um, at: holder.bench.loop.now, waiting: [])), of: .um)
        let patience = Patience("it is over")
        while await !watcher.states(of: [.um]).isEmpty { try await patience.turn() }

        #expect(before == [.um: "data-available"])
        await watcher.shutdown()
        #expect(try await holder.leave() == .none)
    }

    /// The cloud tells that somebody watches when it grants the lease, and that word may be quicker than its answer.
    @Test func wordThatComesBeforeTheLease_isNotLost() async throws {
        let bench = LeaseBench(.keep)
        let relay = SimulatedRelay(bench.zone)
        let host = bench.host(1)
        let session = try await host.pluggedIn()
        let uplink = RelayUplink(
            link: relay.link(of: .numbered(1), named: "pi1"), keeper: host.keeper, loop: bench.loop,
            logger: host.host.log.logger
        ) { [session] _ in session.relaySource }
        let watching = relay.link(of: .numbered(2), named: "pi2").watch(.um, wantsAll: false)
        await uplink.handle(.interest(meter: .um, remaining: .seconds(30), wantsAll: false))
        let before = await uplink.count
        let patience = Patience("it is sent")
        while relay.parcels.isEmpty {
            await bench.advance(by: .milliseconds(250), host)
            try await patience.turn()
        }

        #expect(before == 0, "it has no lease yet")
        #expect(await uplink.count == 1)
        withExtendedLifetime(watching) {}
        await uplink.shutdown()
        #expect(try await bench.leave(host, session) == .none)
    }

    @Test func twoWhoLook_shareOneStream_whichEndsWithThem() async throws {
        let holder = try await Holder()
        let watcher = holder.watcher()
        var one: Feed<WatchedReading>.Subscription? = await watcher.watch(.um, wantsAll: false)
        var two: Feed<WatchedReading>.Subscription? = await watcher.watch(.um, wantsAll: false)
        try await eventually("it watches") { holder.relay.watcherCount == 1 }
        #expect(await watcher.count == 1)
        withExtendedLifetime((one, two)) {}
        one = nil
        two = nil
        // The cloud's next word shows that nobody looks any more.
        holder.relay.tell(.ping, of: .um)
        try await eventually("nobody watches any more") { holder.relay.watcherCount == 0 }

        #expect(await watcher.count == 0)
        #expect(try await holder.leave() == .none)
    }

    @Test func brokenStream_isOpenedAgain() async throws {
        let holder = try await Holder()
        let watcher = holder.watcher()
        let looking = await watcher.watch(.um, wantsAll: false)
        try await eventually("it watches") { holder.relay.watcherCount == 1 }
        holder.relay.breakStreams()
        let patience = Patience("it watches again")
        while holder.relay.watcherCount == 0 {
            await holder.bench.advance(by: .milliseconds(250), holder.host)
            try await patience.turn()
        }
        withExtendedLifetime(looking) {}
        await watcher.shutdown()
        #expect(try await holder.leave() == .none)
    }

    @Test func lastReading_isThereForAGlance_andTheInterestEndsByItself() async throws {
        let holder = try await Holder()
        let changes = ChangeMarks()
        let watcher = holder.watcher(2, changes)
        let glance = Task { () async throws -> Reading? in
            await watcher.latest(of: [.um], within: .seconds(20))[.um]?.0.reading
        }
        try await eventually("it watches") { holder.relay.watcherCount == 1 }
        await holder.interest()
        let seen = try await holder.bench.advance(until: glance, holder.host)
        #expect(changes.take(waking: nil) == .zone)
        await holder.bench.advance(by: .seconds(31), holder.host)
        changes.take(waking: nil)
        holder.relay.tell(.ping, of: .um)
        try await eventually("nobody watches any more") { holder.relay.watcherCount == 0 }

        #expect(seen?[.voltage] != nil)
        #expect(changes.isEmpty)
        #expect(try await holder.leave() == .none)
    }

    @Test func glance_atAMeterThatSaysNothing_endsWithItsPatience() async throws {
        let holder = try await Holder()
        let watcher = holder.watcher()
        let glance = Task { () async throws -> Bool in
            await watcher.latest(of: [.um], within: .seconds(1)).isEmpty
        }
        #expect(try await holder.bench.advance(until: glance, holder.host))
        let again = await watcher.latest(of: [.um], within: .seconds(1))

        #expect(again.isEmpty, "who asks again does not wait again")
        await watcher.shutdown()
        #expect(try await holder.leave() == .none)
    }
}

extension MeterID {
    static let other = MeterID.mac(MACAddress(bits: 99))
}
