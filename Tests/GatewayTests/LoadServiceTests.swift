import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// Battery tests with a load, from being switched on to being switched off, over lost links and restarts, in virtual time.
@Suite(.timeLimit(.minutes(10)))
struct LoadServiceTests {
    private let host = VirtualHost()

    /// A daemon, as far as such tests need one. Another one on the same stores is the daemon after a restart.
    private struct Daemon {
        var bench: DirectoryBench
        var recordings: RecordingService
        var loads: LoadService
    }

    private func daemon() async throws -> Daemon {
        let now = VirtualHost(loop: host.loop, store: host.store, links: host.links)
        let settings = SettingsService(
            repository: host.store, now: { [loop = host.loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: host.log.logger)
        let recordings = RecordingService(
            host: .temporary, meters: now.meters, repository: host.store, settings: settings, loop: host.loop,
            logger: host.log.logger)
        let bench = DirectoryBench(on: now, recordings: recordings)
        let loads = LoadService(
            directory: bench.directory, recordings: recordings, loop: host.loop, logger: host.log.logger)
        try await recordings.restore()
        try await loads.restore()
        return Daemon(bench: bench, recordings: recordings, loads: loads)
    }

    /// Runs it while `body` does something. `isDead`: the end comes without a goodbye.
    private func running(_ daemon: Daemon, _ body: () async throws -> Void) async throws {
        async let recording: Void = daemon.recordings.run()
        async let driving: Void = daemon.loads.run()
        func finish() {
            daemon.loads.finish()
            daemon.recordings.finish()
        }
        do {
            try await body()
        } catch {
            finish()
            _ = await (recording, driving)
            throw error
        }
        finish()
        _ = await (recording, driving)
        await daemon.bench.directory.shutdown()
    }

    /// Lets time pass in small steps until something is so.
    private func pass(_ what: String, _ condition: () async throws -> Bool) async throws {
        try await eventually(what) {
            if try await condition() { return true }
            host.loop.advance(by: .milliseconds(100))
            return false
        }
    }

    private func pass(_ time: Duration) async throws {
        let end = host.loop.now + time
        try await eventually("time passes") {
            host.loop.advance(by: min(.seconds(1), end - host.loop.now))
            return host.loop.now >= end
        }
    }

    private func load(_ change: (inout SimulatedDL24.Quirks) -> Void = { _ in }, capacity: Double = 2500)
        -> SimulatedDL24
    {
        var quirks = SimulatedDL24.Quirks()
        (quirks.losesOneIn, quirks.losesCollisions) = (0, false)
        change(&quirks)
        return SimulatedDL24(battery: .init(capacity_mAh: capacity), quirks: quirks)
    }

    private func connect(_ daemon: Daemon, _ meter: SimulatedDL24?) async throws {
        if let meter { host.links.plug(meter, at: .port) }
        await daemon.bench.directory.handle(.appeared(.of(.dl24)))
        _ = try await daemon.bench.directory.connect("\(MeterID.um)", ConnectRequest())
        try await pass("the load is read") { try await isOn(daemon) != nil }
    }

    /// What the load says; nil while it is not heard.
    private func isOn(_ daemon: Daemon) async throws -> Bool? {
        let status = try await daemon.bench.status()
        guard status.state == "data-available", case .flag(let isOn)? = status.told?.details["load_on"] else {
            return nil
        }
        return isOn
    }

    private func start(_ daemon: Daemon, _ plan: LoadPlan, until: String? = nil) async throws -> Recording {
        let test = try BatteryTest(until: until ?? plan.until, load: plan)
        let result = Mutex<Result<Recording, GatewayError>?>(nil)
        let task = Task {
            do throws(GatewayError) {
                let recording = try await daemon.loads.start(.um, name: "cell", test: test)
                result.withLock { $0 = .success(recording) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        try await pass("the test begins or fails") { result.withLock { $0 } != nil }
        await task.value
        return try #require(result.withLock { $0 }).get()
    }

    private func standing(_ daemon: Daemon) async throws -> (Recording, LoadSnapshot) {
        // While it goes on, no store is needed: this is asked ten times for each second.
        if let running = daemon.recordings.track(for: .um).recording {
            return (running, try #require(running.test?.load))
        }
        let recording = try await daemon.recordings.recording("cell").recording
        return (recording, try #require(recording.test?.load))
    }

    private let plan = LoadPlan(current: 1500, cutoff: 3000, minutes: 60)

    // MARK: From the beginning to the end

    @Test func test_setsTheLoad_switchesItOn_andOffWhenItIsStopped() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            try await connect(daemon, load())
            let recording = try await start(daemon, plan)
            #expect(recording.test?.load?.plan == plan)
            let told = try #require(try await daemon.bench.status().told?.details)
            try await pass("it draws") { try await daemon.bench.status().reading?.reading[.current] == 1.5 }
            #expect(told["set_current_A"] == .number(1.5) && told["cutoff_V"] == .number(3))
            #expect(told["timer_s"] == .number(3600))
            #expect(try await standing(daemon).1.phase == .drawing)

            try await pass(.seconds(60))
            _ = try await daemon.recordings.stop(.um)
            let loads = daemon.loads
            let stopping = Task { await loads.testWasStopped(.um) }
            try await pass("it is off") { try await standing(daemon).1.phase == .over }
            await stopping.value
            try await pass("nothing flows") { try await daemon.bench.status().reading?.reading[.current] == 0 }
        }
        let (recording, _) = try await standing(daemon)
        #expect(recording.end == .hand)
        #expect(try (24...27).contains(#require(recording.totals.charge_mAh)))
    }

    @Test func test_endsWhenTheLoadSwitchesItselfOff_withWhatFlowedUpToThen() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            try await connect(daemon, load(capacity: 50))
            _ = try await start(daemon, LoadPlan(current: 1500, cutoff: 3000))
            try await pass("it is over") { try await standing(daemon).0.end != nil }
            try await pass("the load is seen to") { try await standing(daemon).1.phase == .over }
        }
        let (recording, _) = try await standing(daemon)
        #expect(recording.end == .cutoff)
        #expect(try (40...50).contains(#require(recording.totals.charge_mAh)))
    }

    @Test func ownCutoff_switchesTheLoadOff() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            try await connect(daemon, load(capacity: 200))
            _ = try await start(daemon, LoadPlan(current: 1500, cutoff: 1000), until: "voltage < 3.7V for 2s")
            try await pass("it is over") { try await standing(daemon).0.end == .cutoff }
            try await pass("the load is off") { try await standing(daemon).1.phase == .over }
            try await pass("it says so") { try await isOn(daemon) == false }
        }
    }

    @Test func loadThatStopsByItself_endsATestWhoseCutoffNeverComes() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            try await connect(daemon, load())
            _ = try await start(
                daemon, LoadPlan(current: 1500, cutoff: 1000, minutes: 1), until: "temperature > 90°C for 1s")
            try await pass("it is over") { try await standing(daemon).0.end == .cutoff }
            #expect(try await standing(daemon).1.phase == .over)
        }
    }

    // MARK: What is refused

    @Test func meterThatIsNoLoad_isRefused() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            try await daemon.bench.plugIn(.atorchDC)
            _ = try await daemon.bench.directory.connect("\(MeterID.um)", ConnectRequest())
            try await pass(.seconds(3))
            let error = await #expect(throws: GatewayError.self) { try await start(daemon, plan) }
            #expect(error?.message == "\(MeterID.um) is not an electronic load")
        }
    }

    @Test func loadThatSaysNothing_isRefused_andNothingIsRecorded() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            host.links.plug(load { $0.answersQueries = false }, at: .port)
            await daemon.bench.directory.handle(.appeared(.of(.dl24)))
            let early = await #expect(throws: GatewayError.self) { try await start(daemon, plan) }
            #expect(early?.code == .notConnected || early?.code == .refused)
            _ = try await daemon.bench.directory.connect("\(MeterID.um)", ConnectRequest())
            try await pass(.seconds(30))
            #expect(try await daemon.bench.status().told?.details["queries"] == .text("no answer"))
            let error = await #expect(throws: GatewayError.self) { try await start(daemon, plan) }
            #expect(error?.message == "\(MeterID.um) does not report whether it is on, so meterd does not switch it on")
            #expect(try await daemon.recordings.recordings().isEmpty)
        }
    }

    // MARK: A lost link

    @Test func lostLink_isAGap_andTheLoadGoesOnByItself() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            try await connect(daemon, load())
            _ = try await start(daemon, plan)
            // Long enough for each of its counters to have been asked for.
            try await pass(.seconds(10))
            host.links.refuse(.port, with: ChannelFailure(.lost, "gone"))
            let meter = try #require(host.links.meter(at: .port))
            host.links.unplug(.port)
            try await pass("it is away") { try await standing(daemon).1.phase == .away }
            // Far longer than a test without a load would last.
            try await pass(.seconds(900))
            #expect(try await standing(daemon).0.end == nil)
            host.links.plug(meter, at: .port)
            host.links.refuse(.port, with: nil)
            try await pass("it goes on") { try await standing(daemon).1.phase == .drawing }
            #expect(try await isOn(daemon) == true)
            try await pass(.seconds(10))
        }
        let (recording, _) = try await standing(daemon)
        #expect(recording.end == nil && recording.totals.gapCount == 1)
        // The load's own counter knows what flowed meanwhile.
        #expect(try #require(recording.totals.charge.total) > 350)
    }

    @Test func lostLink_switchesOffOnceItIsBack_whereThePersonSaidSo() async throws {
        let daemon = try await daemon()
        try await running(daemon) {
            try await connect(daemon, load())
            _ = try await start(daemon, LoadPlan(current: 1500, cutoff: 3000, onLinkLoss: .off))
            let meter = try #require(host.links.meter(at: .port))
            host.links.unplug(.port)
            try await pass("it is away") { try await standing(daemon).1.phase == .away }
            try await pass(.seconds(60))
            #expect(try await standing(daemon).0.end == nil)
            host.links.plug(meter, at: .port)
            // Told one after the other.
            try await pass("it is off, by the gap") {
                let (recording, load) = try await standing(daemon)
                return load.phase == .over && recording.end == .gap
            }
        }
    }

    // MARK: The end of meterd

    @Test func endOfMeterd_leavesTheLoadOn_andSaysSo_andTheNextTakesItUp() async throws {
        let first = try await daemon()
        try await running(first) {
            try await connect(first, load())
            _ = try await start(first, plan)
            try await pass(.seconds(5))
        }
        let said = host.log.entries(saying: "electronic load stays on until its own cut-off")
        #expect(said.count == 1 && said.first?.values["load"] == plan.words)
        // Nothing was written that switches it off.
        #expect(host.links.writes(to: .port).last { $0.bytes.starts(with: [0xB1, 0xB2, 0x01]) }?.bytes[3] == 1)

        let second = try await daemon()
        try await running(second) {
            try await connect(second, nil)
            try await pass("it goes on") { try await standing(second).1.phase == .drawing }
            #expect(try await standing(second).0.end == nil)
            _ = try await second.recordings.stop(.um)
            try await pass("it is off") { try await standing(second).1.phase == .over }
            try await pass("it says so") { try await isOn(second) == false }
        }
    }

    @Test func loadThatWasNotReached_isSwitchedOffByTheNext() async throws {
        let first = try await daemon()
        var meter: (any SimulatedMeter)?
        try await running(first) {
            try await connect(first, load())
            _ = try await start(first, plan)
            meter = host.links.meter(at: .port)
            host.links.unplug(.port)
            try await pass("it is away") { try await standing(first).1.phase == .away }
            _ = try await first.recordings.stop(.um)
            try await pass("it is to be switched off") { try await standing(first).1.phase == .ending }
        }
        host.links.plug(try #require(meter), at: .port)
        let second = try await daemon()
        try await running(second) {
            await second.bench.directory.handle(.appeared(.of(.dl24)))
            _ = try await second.bench.directory.connect("\(MeterID.um)", ConnectRequest())
            try await pass("it is off") { try await standing(second).1.phase == .over }
            try await pass("it says so") { try await isOn(second) == false }
        }
    }

    @Test func testThatWasOnlyBeingSet_isNotBegunByTheNext() async throws {
        let first = try await daemon()
        try await running(first) {
            try await connect(first, load())
            let test = try BatteryTest(until: plan.until, load: plan)
            _ = try await first.recordings.start(.um, name: "cell", test: test)
        }
        let second = try await daemon()
        try await running(second) {
            try await pass("it is over") { try await standing(second).0.end == .load }
            try await connect(second, nil)
            try await pass("it is off") { try await standing(second).1.phase == .over }
            try await pass("it says so") { try await isOn(second) == false }
        }
        let problem = try await standing(second).1.problem
        #expect(problem == "meterd ended before the load was switched on")
    }
}
