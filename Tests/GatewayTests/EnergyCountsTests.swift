import Gateway
import GatewayAPI
import IOPorts
import MeterCodec
import MeterModel
import MeterSimulator
import MeterTestKit
import RecordingCore
import Testing

/// What is counted for meters that count no energy: by their sessions, over restarts, until somebody resets it.
@Suite(.timeLimit(.minutes(10)))
struct EnergyCountsTests {
    private let host = VirtualHost()
    private let meters = InMemoryMeterStore()
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

    @Test func meterThatCounts_isLeftAlone() async throws {
        let bench = bench()
        try await read(.um25c, for: .seconds(20), at: bench)

        let status = try await bench.status(of: id)
        #expect(status.reading?.reading.supported.contains(.energy) == true)
        #expect(status.reading?.reading.supported.contains(.countedEnergy) == false)
        #expect(status.counted == nil)
        await leave(bench)
    }

    /// A DC meter's energy stays at 0 until 10 Wh have flowed, and so does that of a load that answers no query
    /// (syssi/esphome-atorch-dl24 issue 82). One that answers counts milliwatt-hours by itself.
    @Test(arguments: [(ModelName.atorchDC, false, true), (.dl24, false, true), (.dl24, true, false)])
    func coarseCounter_isCountedBeside(model: ModelName, answers: Bool, isCounted: Bool) async throws {
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
        #expect(reading.supported.contains(.countedEnergy) == isCounted)
        #expect((status.counted?.energy_Wh ?? 0 > 0.01) == isCounted)
        let commands = try await bench.directory.session("\(id)").profile?.commands.map(\.kind) ?? []
        #expect(commands.filter { $0 == .resetEnergy }.count == (isCounted ? 1 : 0))
        await leave(bench)
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
        let stored = try #require(await host.store.energyCounts()[id])
        #expect((stored.energy_Wh - before.energy_Wh).magnitude < 1e-4)

        let counts = EnergyCounts(repository: host.store)
        try await counts.restore()
        let again = DirectoryBench(meters, on: host, counts: counts)
        host.loop.advance(by: .seconds(3600))
        try await read(.km003c, for: .seconds(30), at: again)

        let after = try #require(try await again.status(of: id).counted)
        #expect(after.energy_Wh > before.energy_Wh * 1.2)
        // The hour in between is not in it.
        #expect(after.counted_ms < 62_000)
        #expect(after.since == before.since)
        await leave(again)
    }

    @Test func count_thatCouldNotBeWritten_isWrittenLater() async throws {
        let counts = EnergyCounts(repository: host.store)
        let recorder = SampleRecorder(repository: host.store, counts: counts, loop: host.loop, logger: host.log.logger)
        await host.store.failWrites(with: StoreError(.diskFull, "no space"))
        let bench = DirectoryBench(meters, on: host, counts: counts)
        try await read(.km003c, for: .seconds(5), at: bench)
        let buffer = recorder.track(for: id)
        buffer.append(host.loop.wallNow, Reading())
        let running = Task { await recorder.run() }
        recorder.finish()
        await running.value
        #expect(await host.store.energyCounts().isEmpty)

        await host.store.failWrites(with: nil)
        let next = SampleRecorder(repository: host.store, counts: counts, loop: host.loop, logger: host.log.logger)
        next.track(for: id).append(host.loop.wallNow, Reading())
        let again = Task { await next.run() }
        next.finish()
        await again.value

        #expect(await host.store.energyCounts()[id]?.energy_Wh ?? 0 > 0)
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
        #expect(await host.store.energyCounts()[id] == EnergyCount(since: host.loop.wallNow))
        await leave(bench)
    }

    @Test func reset_ofAMeterThatCountsItself_isRefused() async throws {
        let bench = bench()
        try await read(.um25c, for: .seconds(5), at: bench)

        let failure = await bench.failure {
            _ = try await $0.command(MeterCommand(.resetEnergy), "\(id)", by: .person)
            return true
        }

        #expect(failure?.code == .badRequest)
        await leave(bench)
    }

    @Test func reset_thatCannotBeWritten_saysSo_andCountsFromZero() async throws {
        let bench = bench()
        try await read(.km003c, for: .seconds(10), at: bench)
        await host.store.failWrites(with: StoreError(.diskFull, "no space"))

        let failure = await bench.failure {
            _ = try await $0.command(MeterCommand(.resetEnergy), "\(id)", by: .person)
            return true
        }

        #expect(failure?.message.contains("would not after a restart") == true)
        #expect(try await bench.status(of: id).counted?.energy_Wh == 0)
        await host.store.failWrites(with: nil)
        await leave(bench)
    }

    // MARK: - Meters that come and go

    @Test func forgottenMeter_isCountedFromZero() async throws {
        let bench = bench()
        try await read(.km003c, for: .seconds(10), at: bench)

        _ = try await bench.directory.forget("\(id)", readings: false)

        #expect(await host.store.energyCounts().isEmpty)
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
        #expect(sum.energy_Wh >= count.energy_Wh)
        #expect(await host.store.energyCounts()[id] == nil)
        await leave(bench)
    }

    @Test func meterWithANewID_goesOn_andIsNotCountedTwice() async throws {
        let old = MeterID.port(host: "pi", path: .port)
        try await host.store.keepEnergyCount(EnergyCount(energy_Wh: 2, charge_mAh: 400), of: old)
        for _ in 0..<2 {
            let counts = EnergyCounts(repository: host.store)
            try await counts.restore(former: [old: id])
            #expect(counts.track(for: id).count == nil || counts.track(for: id).count?.energy_Wh == 2)
        }

        #expect(await host.store.energyCounts() == [id: EnergyCount(energy_Wh: 2, charge_mAh: 400)])
    }
}
