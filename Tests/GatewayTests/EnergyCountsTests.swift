import Domain
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@testable import Gateway

/// What is counted for meters that count no energy: by their sessions, over restarts, until somebody resets it.
@Suite(.timeLimit(.minutes(10)))
struct EnergyCountsTests {
    private let host = VirtualHost()
    private let meters = MeterStore.temporary()
    private let id = MeterID.tc

    private func bench() -> DirectoryBench { DirectoryBench(meters, on: host) }

    /// A simulated meter, read for a while.
    private func read(_ model: ModelName, for time: Duration, at bench: DirectoryBench) async throws {
        try await bench.plugIn(model, id: id)
        _ = try await bench.directory.connect("\(id)", .init())
        host.loop.advance(by: time)
    }

    private func leave(_ bench: DirectoryBench) async {
        #expect(await bench.leave() == .none)
    }

    @Test func meterThatCountsNone_isCounted() async throws {
        let bench = bench()
        try await read(.km003c, for: .seconds(20), at: bench)

        let status = try await bench.status(of: id)
        let reading = try #require(status.reading?.reading)
        #expect(!reading.supported.contains(.energy))
        let energy = try #require(reading[.countedEnergy])
        #expect(energy > 0)
        #expect(reading[.countedCharge] ?? 0 > 0)
        #expect(status.counted?.by == "meterd")
        #expect(status.counted?.energy_Wh == energy)
        #expect(status.counted?.counted_ms ?? 0 > 18_000)
        await leave(bench)
    }

    /// A PPK2 measures no power, so its energy is unknown and not 0.
    @Test func countThatAMeterCannotHave_isUnknown() async throws {
        let bench = bench()
        try await read(.ppk2, for: .seconds(20), at: bench)

        let counted = try #require(try await bench.status(of: id).counted)
        #expect(counted.energy_Wh == nil)
        #expect(try #require(counted.charge_mAh) > 0)
        await leave(bench)
    }

    /// Sends a command, which takes the meter a moment.
    private func command(_ command: MeterCommand, at bench: DirectoryBench) async throws {
        let sending = Task { try await bench.directory.command(command, "\(id)", by: .person) }
        _ = try await host.loop.advance(until: sending)
    }

    /// To whoever adds up a total that leaps, the leap is consumption (home-assistant/core issues 55565, 180672). Another group
    /// has counted less or more, and a cleared one nothing; what programs and alerts get goes on, over restarts too.
    @Test func otherGroup_isNoConsumption_forAnybody() async throws {
        let alerts = AlertService(
            meters: host.meters, repository: host.store, notifier: ScriptedNotifier(), loop: host.loop,
            logger: host.log.logger)
        _ = try await alerts.add("energy > 1.5Wh", of: id, name: "much", notify: [])
        let bench = DirectoryBench(meters, on: host, alerts: alerts)
        func seen() throws -> (own: Double, total: Double, stored: Double) {
            let snapshot = host.loop.result { [directory = bench.directory] in directory.snapshots().first }
            let reading = try #require(snapshot?.reading?.reading)
            #expect(!reading.supported.contains(.countedEnergy))
            let last = try #require(try host.recorder.waiting(of: id).flatMap { try $0.samples() }.last?.reading)
            return (
                try #require(last[.energy]), try #require(reading[.energy]), try #require(last[.countedEnergy])
            )
        }
        try await read(.um25c, for: .seconds(600), at: bench)
        var before = try seen()
        #expect(before.own > 0.5 && (before.own - before.total).magnitude < 0.01)
        for (command, isLess) in [
            (MeterCommand(.selectGroup, 3), true), (.init(.selectGroup, 0), false), (.init(.clearGroup), true),
        ] {
            try await self.command(command, at: bench)
            host.loop.advance(by: .seconds(30))
            let now = try seen()
            #expect((now.own < before.own) == isLess)
            // At most 20 W for half a minute.
            #expect(now.total > before.total && now.total < before.total + 0.17)
            #expect(now.stored == now.total)
            before = now
        }
        #expect(alerts.entries.first?.standing.isRaised == false)
        host.loop.advance(by: .seconds(900))
        #expect(alerts.entries.first?.standing.isRaised == true)
        #expect(try await bench.status(of: id).counted?.energy_Wh == (try seen()).total)
        await leave(bench)
    }

    /// Of a meter that is away, its own counter tells what flowed.
    @Test func meterThatWasAway_isCaughtUp() async throws {
        let bench = bench()
        try await read(.um25c, for: .seconds(60), at: bench)
        let before = try #require(try await bench.status(of: id).counted)
        _ = try await bench.directory.disconnect("\(id)")
        host.loop.advance(by: .seconds(600))
        _ = try await bench.directory.connect("\(id)", .init())
        host.loop.advance(by: .seconds(5))

        let after = try await bench.status(of: id)
        let own = try #require(after.reading?.reading[.energy])
        let total = try #require(after.counted?.energy_Wh)
        #expect(total > before.energy * 5 && (own - total).magnitude < 0.05)
        await leave(bench)
    }

    /// A DC meter's energy stays at 0 until 10 Wh have flowed, and so does that of a load that answers no query
    /// (syssi/esphome-atorch-dl24 issue 82). What goes out is meterd's finer count.
    @Test(arguments: [(ModelName.atorchDC, false), (.atorchAC, false), (.dl24, false), (.dl24, true)])
    func coarseCounter_isCountedBeside(model: ModelName, answers: Bool) async throws {
        let bench = bench()
        if model == .dl24 {
            var quirks = SimulatedDL24.Quirks()
            (quirks.startsOn, quirks.answersQueries) = (true, answers)
            host.links.plug(SimulatedDL24(quirks: quirks), at: .port)
            await bench.directory.handle(.appeared(.of(.dl24, id: id)))
        } else {
            try await bench.plugIn(model, id: id)
        }
        _ = try await bench.directory.connect("\(id)", .init())
        host.loop.advance(by: .seconds(60))

        let status = try await bench.status(of: id)
        let reading = try #require(status.reading?.reading)
        #expect(reading.supported.contains(.energy))
        let counted = try #require(reading[.countedEnergy])
        #expect(counted > 0.01 && status.counted?.energy_Wh == counted)
        #expect(reading.published[.energy] == counted)
        // A simulated AC meter is at a power factor below 1.
        if let watts = reading[.power] { #expect(counted < watts * 61 / 3600 * 1.5) }
        let commands = try await bench.directory.session("\(id)").profile?.commands.map(\.kind) ?? []
        #expect(commands.filter { $0 == .resetEnergy }.count == 1)
        await leave(bench)
    }

    /// A load shows only after a while that it answers nothing and so counts in steps of 10 Wh. A step across a gap may be
    /// almost none.
    @Test func loadThatTurnsOutCoarse_isBelievedNoWholeStep() async throws {
        var quirks = SimulatedDL24.Quirks()
        (quirks.startsOn, quirks.answersQueries) = (true, false)
        let battery = SimulatedDL24.Battery(capacity_mAh: 50_000, voltage: 13)
        host.links.plug(SimulatedDL24(battery: battery, quirks: quirks), at: .port)
        host.loop.advance(by: .seconds(2400))
        var told: [Double?] = []
        var counted = 0.0
        for _ in 0..<2 {
            let bench = bench()
            await bench.directory.handle(.appeared(.of(.dl24, id: id)))
            _ = try await bench.directory.connect("\(id)", .init())
            host.loop.advance(by: .seconds(60))
            let status = try await bench.status(of: id)
            told.append(status.reading?.reading[.energy])
            counted = try #require(status.counted?.energy_Wh)
            await leave(bench)
            host.meters.end(id)
            host.loop.advance(by: .seconds(600))
        }

        #expect(told == [0, 10])
        #expect((30..<50).contains(Int(counted * 100)), "\(counted) Wh")
    }

    @Test func whoeverTakesReadings_seesTheSame() async throws {
        let bench = bench()
        try await bench.plugIn(.km003c, id: id)
        let session = try await bench.directory.session("\(id)")
        let feed = session.readings.subscribe()
        _ = try await bench.directory.connect("\(id)", .init())
        host.loop.advance(by: .seconds(3))

        var last: TimedReading?
        session.readings.finish()
        for await element in feed { last = element.value }
        let stored = try host.recorder.waiting(of: id).flatMap { try $0.samples() }.last

        #expect(last?.reading[.countedEnergy] != nil)
        #expect(stored?.reading == last?.reading)
        await leave(bench)
    }

    @Test func count_isWrittenWithTheReadings_andGoesOnAfterARestart() async throws {
        let running = Task { await host.recorder.run() }
        let first = bench()
        try await read(.km003c, for: .seconds(30), at: first)
        let before = try #require(try await first.status(of: id).counted)
        await first.directory.shutdown()
        host.recorder.finish()
        await running.value
        let stored = try #require(try await host.store.energyCounts()[id])
        #expect((stored.energy_Wh - before.energy).magnitude < 1e-4)

        let next = VirtualHost(loop: host.loop, store: host.store)
        try await next.counts.restore()
        let again = DirectoryBench(meters, on: next)
        host.loop.advance(by: .seconds(3600))
        try await read(.km003c, for: .seconds(30), at: again)

        let after = try #require(try await again.status(of: id).counted)
        #expect(after.energy > before.energy * 1.2)
        // The hour in between is not in it.
        #expect(after.counted_ms < 62_000)
        #expect(after.since == before.since)
        await leave(again)
    }

    @Test func count_thatCouldNotBeWritten_isWrittenLater() async throws {
        let recorder = SampleRecorder(
            meters: host.meters, repository: host.store, counts: host.counts, loop: host.loop, logger: host.log.logger)
        host.access.failWrites(with: StoreError(.diskFull, "no space"))
        let bench = DirectoryBench(meters, on: host)
        try await read(.km003c, for: .seconds(5), at: bench)
        let buffer = recorder.track(for: id)
        buffer.append(host.loop.wallNow, Reading())
        let running = Task { await recorder.run() }
        recorder.finish()
        await running.value
        #expect(try await host.store.energyCounts().isEmpty)

        host.access.failWrites(with: nil)
        let next = SampleRecorder(
            meters: host.meters, repository: host.store, counts: host.counts, loop: host.loop, logger: host.log.logger)
        next.track(for: id).append(host.loop.wallNow, Reading())
        let again = Task { await next.run() }
        next.finish()
        await again.value

        #expect(try await host.store.energyCounts()[id]?.energy_Wh ?? 0 > 0)
        await leave(bench)
    }

    // MARK: - Reset

    @Test func reset_beginsAnew_withoutALink_andIsKept() async throws {
        let bench = bench()
        try await read(.km003c, for: .seconds(10), at: bench)
        _ = try await bench.directory.disconnect("\(id)")

        _ = try await bench.directory.command(MeterCommand(.resetEnergy), "\(id)", by: .person)

        let status = try await bench.status(of: id)
        #expect(status.counted?.energy_Wh == 0)
        #expect(status.reading?.reading[.countedEnergy] == 0)
        #expect(status.counted?.since == host.loop.wallNow.description)
        #expect(try await host.store.energyCounts()[id] == EnergyCount(since: host.loop.wallNow))
        await leave(bench)
    }

    @Test func reset_thatCannotBeWritten_saysSo_andCountsFromZero() async throws {
        let bench = bench()
        try await read(.km003c, for: .seconds(10), at: bench)
        host.access.failWrites(with: StoreError(.diskFull, "no space"))

        let failure = await bench.failure {
            _ = try await $0.command(MeterCommand(.resetEnergy), "\(id)", by: .person)
            return true
        }

        #expect(failure?.message.contains("a restart would undo that") == true)
        #expect(try await bench.status(of: id).counted?.energy_Wh == 0)
        host.access.failWrites(with: nil)
        await leave(bench)
    }

    // MARK: - Meters that come and go

    @Test func forgottenMeter_isCountedFromZero() async throws {
        let bench = bench()
        try await read(.km003c, for: .seconds(10), at: bench)

        _ = try await bench.directory.forget("\(id)", readings: false)

        #expect(try await host.store.energyCounts().isEmpty)
        #expect(try await bench.status(of: id).counted == nil)
        await leave(bench)
    }

    @Test func secondID_givesWhatWasCountedToTheMeter() async throws {
        let bench = bench()
        try await bench.directory.restore()
        try await read(.km003c, for: .seconds(10), at: bench)
        let count = try #require(try await bench.status(of: id).counted)
        try await bench.plugIn(.km003c, id: .um, at: "/dev/ttyUSB1")

        _ = try await bench.directory.alias("\(id)", of: "\(MeterID.um)")

        let sum = try #require(try await bench.status(of: .um).counted)
        #expect(sum.energy >= count.energy)
        #expect(try await host.store.energyCounts()[id] == nil)
        await leave(bench)
    }

    /// What was counted under both is not added up: a leap would be consumption.
    @Test func secondID_ofAMeterWithATotal_addsNothing() async throws {
        let counts = EnergyCounts(meters: Meters(), repository: host.store)
        try await host.store.keepEnergyCount(EnergyCount(energy_Wh: 2, since: host.loop.wallNow), of: id)
        try await host.store.keepEnergyCount(EnergyCount(energy_Wh: 500, since: host.loop.wallNow), of: .um)
        try await counts.restore()
        try await counts.merge(.um, into: id)
        #expect(counts.track(for: id).count?.energy_Wh == 2)
        #expect(try await host.store.energyCounts().keys.map(\.description) == [id.description])
    }

    /// Two hosts take turns, and to programs they are one meter: what each tells begins at zero, which is no consumption.
    @Test func meterThatComesBackFromAnotherHost_beginsAnew() async throws {
        let bench = LeaseBench(.keep)
        let (one, two) = (bench.host(1), bench.host(2))
        let (first, second) = (try await one.pluggedIn(), try await two.pluggedIn(isWanted: false))
        await bench.advance(by: .seconds(60), one, two)
        let before = try #require(await first.status().counted)
        #expect(before.energy > 0.05)

        await second.connect(ConnectOptions(isTakeover: true))
        await bench.advance(by: .seconds(30), one, two)
        #expect(try #require(await second.status().counted).energy < before.energy)
        await first.connect(ConnectOptions(isTakeover: true))
        await bench.advance(by: .seconds(10), one, two)

        let after = try #require(await first.status().counted)
        #expect(after.energy < before.energy / 2)
        #expect(after.since != before.since)
        _ = try await bench.leave(two, second)
        _ = try await bench.leave(one, first)
    }

    @Test func meterWithANewID_goesOn_andIsNotCountedTwice() async throws {
        let old = MeterID.port(host: "pi", path: .port)
        try await host.store.keepEnergyCount(EnergyCount(energy_Wh: 2, charge_mAh: 400), of: old)
        for _ in 0..<2 {
            let counts = EnergyCounts(meters: Meters(), repository: host.store)
            try await counts.restore(mainIDs: [old: id])
            #expect(counts.track(for: id).count == nil || counts.track(for: id).count?.energy_Wh == 2)
        }

        #expect(try await host.store.energyCounts() == [id: EnergyCount(energy_Wh: 2, charge_mAh: 400)])
    }

    /// Nobody knows which was written last, and less than what was counted would be a loss.
    @Test(arguments: [(2.0, 500.0), (500, 2)])
    func meterWithTwoFormerIDs_goesOnWithTheGreaterCount(one: Double, other: Double) async throws {
        let (port, hub) = (MeterID.port(host: "pi", path: .port), MeterID.port(host: "pi", path: "/dev/ttyUSB7"))
        try await host.store.keepEnergyCount(EnergyCount(energy_Wh: one), of: port)
        try await host.store.keepEnergyCount(EnergyCount(energy_Wh: other), of: hub)

        try await EnergyCounts(meters: Meters(), repository: host.store).restore(mainIDs: [port: id, hub: id])

        #expect(try await host.store.energyCounts() == [id: EnergyCount(energy_Wh: 500)])
    }
}

extension CountedBody {
    /// Fails each comparison while it is unknown.
    fileprivate var energy: Double { energy_Wh ?? .nan }
}
