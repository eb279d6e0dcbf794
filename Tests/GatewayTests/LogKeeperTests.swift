import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// What a host keeps of what happens to its meters: from where it comes, when it is written, how long it stays.
@Suite(.timeLimit(.minutes(10)))
struct LogKeeperTests {
    private let access = ScriptedAccess()
    private let store: MeterStore
    private let log = LogBook()

    init() { store = .temporary(through: access) }

    private func keeper(_ loop: VirtualLoop) -> LogKeeper {
        LogKeeper(meters: Meters(), repository: store, loop: loop, logger: log.logger)
    }

    private func command(_ what: String, _ keeper: LogKeeper) async throws {
        try await keeper.logging(what, of: .um, by: .person) { () throws(GatewayError) in }
    }

    private func commands(_ entries: [LogEntry]) -> [String] {
        entries.compactMap {
            if case .command(let what, _, let outcome) = $0.event { "\(what): \(outcome)" } else { nil }
        }
    }

    // MARK: Writing

    @Test func lines_areWrittenOnceAMinute_andAtTheEnd() async throws {
        let loop = VirtualLoop()
        let keeper = keeper(loop)
        let running = Task { await keeper.run() }
        await loop.timers(reach: 1)
        try await command("rotate", keeper)
        loop.advance(by: .seconds(59))
        #expect(try await store.log(of: [.um], limit: 9).isEmpty)
        // What is not written yet is known all the same.
        #expect(try await commands(keeper.entries(of: [.um])) == ["rotate: done"])
        loop.advance(by: .seconds(1))
        try await eventually("it is written") { try await store.log(of: [.um], limit: 9).count == 1 }
        try await command("setup", keeper)

        keeper.finish()
        await running.value

        #expect(try await store.log(of: [.um], limit: 9).map(\.number) == [1, 2])
        #expect(loop.pendingTimers == 0)
    }

    @Test func storeThatFails_isTriedAgain_andItIsSaidOnce() async throws {
        let loop = VirtualLoop()
        let keeper = keeper(loop)
        access.failWrites(with: StoreError(.diskFull, "full"))
        let running = Task { await keeper.run() }
        await loop.timers(reach: 1)
        try await command("rotate", keeper)
        for _ in 1...3 {
            loop.advance(by: .seconds(60))
            try await eventually("it was tried") { loop.pendingTimers == 2 }
        }
        #expect(log.entries(saying: "meter log not written: retrying").count == 1)

        access.failWrites(with: nil)
        loop.advance(by: .seconds(5))
        try await eventually("it is written") { try await store.log(of: [.um], limit: 9).count == 1 }
        keeper.finish()
        await running.value
    }

    @Test func nextRun_countsOn_andEndsWhatTheLastOneHeld() async throws {
        let bench = LeaseBench(.keep)
        let host = bench.host(1)
        let session = try await host.pluggedIn()
        await bench.advance(by: .seconds(2), host)
        let running = Task { await host.host.happened.run() }
        host.host.happened.finish()
        await running.value
        let next = LogKeeper(
            meters: Meters(), repository: host.host.store, loop: bench.loop, logger: log.logger)

        try await next.restore()
        try await command("rotate", next)

        let entries = try await next.entries(of: [.um])
        let held = try #require(entries.first { if case .held = $0.event { true } else { false } })
        guard case .held(let holding) = held.event else { return }
        #expect(holding.end == .stopped && holding.token?.rawValue == bench.zone.record(of: .um)?.token.rawValue)
        #expect(commands(entries.suffix(1)) == ["rotate: done"])
        #expect(try await bench.leave(host, session) == .none)
    }

    /// Only while it is needed: radios hear many things that come and go.
    @Test func nothingStaysInMemory_ofAMeterThatIsQuiet() async throws {
        let loop = VirtualLoop()
        let keeper = keeper(loop)
        let running = Task { await keeper.run() }
        await loop.timers(reach: 1)
        try await command("rotate", keeper)
        #expect(keeper.meterCount == 1)
        for _ in 0..<17 {
            loop.advance(by: .seconds(60))
            try await eventually("the round is over") { loop.pendingTimers == 1 }
        }
        try await eventually("it is forgotten") { keeper.meterCount == 0 }
        keeper.finish()
        await running.value
    }

    @Test func oldLines_goByTheBelievedDate_andNotByACalendarAlone() async throws {
        let loop = VirtualLoop()
        let isConfirmed = Confirmation()
        let calendar = RetentionCalendar(
            repository: store,
            clocks: .init(
                now: { loop.now }, wallNow: { loop.wallNow },
                isConfirmed: { isConfirmed.isGiven.load(ordering: .relaxed) }),
            logger: log.logger)
        let keeper = LogKeeper(meters: Meters(), repository: store, calendar: calendar, loop: loop, logger: log.logger)
        let running = Task { await keeper.run() }
        await loop.timers(reach: 1)
        try await command("rotate", keeper)
        loop.advance(by: .seconds(60))
        try await eventually("it is written") { try await store.log(of: [.um], limit: 9).count == 1 }

        isConfirmed.isGiven.store(false, ordering: .relaxed)
        loop.stepWallClock(by: .seconds(100 * 365 * 86_400))
        try await rounds(loop, hours: 3)
        #expect(try await store.log(of: [.um], limit: 9).count == 1)

        // A confirmed calendar moves the date by a day for each hour.
        isConfirmed.isGiven.store(true, ordering: .relaxed)
        loop.stepWallClock(by: .seconds(-100 * 365 * 86_400 + 95 * 86_400))
        try await rounds(loop, hours: 110)
        try await eventually("it is deleted") { try await store.log(of: [.um], limit: 9).isEmpty }
        keeper.finish()
        await running.value
    }

    /// Whether something says that the calendar is right.
    private final class Confirmation: Sendable { let isGiven = Atomic(true) }

    private func rounds(_ loop: VirtualLoop, hours: Int) async throws {
        for _ in 0..<hours {
            loop.advance(by: .seconds(3600))
            try await eventually("the round is over") { try await store.believed() != nil && loop.pendingTimers == 1 }
        }
    }

    // MARK: What is in it

    @Test func holdings_haveTheirTokensAndEnds() async throws {
        let bench = LeaseBench(.keep)
        let (one, other) = (bench.host(1), bench.host(2))
        let session = try await one.pluggedIn()
        await bench.advance(by: .seconds(200), one, other)
        let first = try #require(bench.zone.record(of: .um)?.token)
        let taking = try await other.pluggedIn(isWanted: false)
        await taking.connect(ConnectOptions(isTakeover: true))
        await bench.advance(by: .seconds(20), one, other)
        let second = try #require(bench.zone.record(of: .um)?.token)

        #expect(try await holdings(one).map(\.token) == [first])
        #expect(try await holdings(one).map(\.end) == [.takenOver])
        #expect(try await holdings(other).map(\.token) == [second])
        #expect(try await holdings(other).map(\.end) == [nil])
        await taking.disconnect()
        await bench.advance(by: .seconds(2), one, other)
        #expect(try await holdings(other).map(\.end) == [.givenBack])
        #expect(try await bench.leave(one, session) == .none)
        #expect(try await bench.leave(other, taking) == .none)
    }

    /// A host that joins a cloud while its meter is in use.
    @Test func holdingWithoutALease_endsWithIt() async throws {
        let bench = LeaseBench(.keep)
        let host = bench.host(1)
        let session = try await host.host.pluggedIn(.um25c)
        await bench.advance(by: .seconds(2), host)
        await session.use(host.keeper)
        await bench.advance(by: .seconds(2), host)

        #expect(try await holdings(host).map(\.end) == [.leased, nil])
        #expect(try await holdings(host).map { $0.token == nil } == [true, false])
        #expect(try await bench.leave(host, session) == .none)
    }

    private func holdings(_ host: LeaseHost) async throws -> [LogHolding] {
        try await host.host.happened.entries(of: [.um]).compactMap {
            if case .held(let holding) = $0.event { holding } else { nil }
        }
    }

    @Test func commands_haveTheirAuthorsAndWhatBecameOfThem() async throws {
        let bench = DirectoryBench()
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = await bench.failure { try await $0.command(MeterCommand(.rotate), "\(MeterID.um)", by: .broker) }
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(3))
        let sending = Task { [directory = bench.directory] in
            try await directory.command(MeterCommand(.rotate), "\(MeterID.um)", by: .person)
        }
        try await eventually("it is sent") {
            bench.host.loop.advance(by: .milliseconds(200))
            return bench.host.links.writes(to: .port).contains { $0.bytes == [0xF2] }
        }
        _ = try await sending.value

        let entries = try await bench.happened.entries(of: [.um])
        let told = entries.compactMap { entry -> String? in
            guard case .command(let what, let author, let outcome) = entry.event else { return nil }
            return
                "\(author) \(what): \(outcome.hasPrefix("\(MeterID.um) is not-connected") ? "not connected" : outcome)"
        }
        #expect(told == ["broker rotate: not connected", "person connect: done", "person rotate: sent"])
        #expect(await bench.leave() == .none)
    }

    /// What a person did in between keeps two holdings apart that would be one line.
    @Test func connectAndDisconnect_areDeeds_withHowTheyWereAskedFor() async throws {
        let zone = LeaseBench(.keep)
        let host = zone.host(1)
        let bench = DirectoryBench(on: host.host, gate: host.keeper, log: host.host.happened)
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        for _ in 0..<2 {
            var request = ConnectRequest(over: "serial")
            request.takeover = true
            _ = try await bench.directory.connect("\(MeterID.um)", request)
            await zone.advance(by: .seconds(5), host)
            let leaving = Task { [directory = bench.directory] in
                _ = try await directory.disconnect("\(MeterID.um)", by: .broker)
            }
            try await zone.advance(until: leaving, host)
        }

        let told = try await host.host.happened.entries(of: [.um]).compactMap { entry -> String? in
            switch entry.event {
            case .held(let holding): "held \(holding.end?.rawValue ?? "still"), \(entry.count) times"
            case .command(let what, let author, let outcome): "\(author) \(what): \(outcome)"
            case .state, .remedy, .alert: nil
            }
        }
        let round = [
            "person connect --takeover --over serial: done", "held given back, 1 times", "broker disconnect: done",
        ]
        #expect(told == round + round)
        #expect(await bench.leave() == .none)
    }

    @Test func meterThatNobodyWants_comesAndGoesUnnoticed_andAWantedOneDoesNot() async throws {
        let bench = DirectoryBench()
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        await bench.directory.handle(.vanished(.of(.um25c)))
        #expect(try await bench.happened.entries(of: [.um]).isEmpty)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        try await bench.plugIn(.um25c)
        await bench.directory.handle(.vanished(.of(.um25c)))
        let states = try await bench.happened.entries(of: [.um]).map(\.event)
        #expect(states.contains(.state(.offline, cause: "device gone")), "\(states)")
        #expect(await bench.leave() == .none)
    }

    @Test func forgottenMeter_hasNoLog() async throws {
        let bench = DirectoryBench()
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = await bench.failure { try await $0.command(MeterCommand(.rotate), "\(MeterID.um)", by: .person) }
        #expect(try await bench.happened.entries(of: [.um]).count == 1)
        _ = try await bench.directory.forget("\(MeterID.um)", readings: false)
        #expect(try await bench.happened.entries(of: [.um]).isEmpty)
        #expect(await bench.leave() == .none)
    }

    /// Told to the meters that it concerns: those that hang on the adapter, or may come over a radio.
    @Test func remedy_isToldInTheLogOfTheMetersThatItConcerns() async throws {
        let missing = KnownMeter(id: .tc, model: .tc66c, isWanted: true)
        let bench = DirectoryBench()
        try await bench.store.save(missing)
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(3))
        let remedy = AdapterRemedy(
            adapter: MACAddress(bits: 0x0011_2233_4455), words: "discovery is restarted", cause: "silence")
        _ = bench.host.loop.schedule(at: bench.host.loop.now) { [directory = bench.directory] in
            directory.remedied(remedy)
        }
        bench.host.loop.advance(by: .milliseconds(1))
        // On a cable: no adapter concerns it.
        #expect(try await remedies(bench, of: .um).isEmpty)
        #expect(
            try await remedies(bench, of: .tc) == [.remedy(remedy.words, adapter: remedy.adapter, cause: "silence")])
        #expect(await bench.leave() == .none)
    }

    private func remedies(_ bench: DirectoryBench, of meter: MeterID) async throws -> [LogEvent] {
        try await bench.happened.entries(of: [meter]).map(\.event).filter {
            if case .remedy = $0 { true } else { false }
        }
    }
}
