import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// Requests, answers and commands, in virtual time.
@Suite(.timeLimit(.minutes(10)))
struct SessionExchangeTests {
    private let host = VirtualHost()

    @Test(arguments: [
        (ModelName.um25c, Duration.milliseconds(500)), (.tc66c, .milliseconds(500)), (.km003c, .milliseconds(200)),
    ])
    func meter_isAskedAtItsModelsRhythm(model: ModelName, interval: Duration) async throws {
        let session = try await host.pluggedIn(model)
        host.loop.advance(by: .seconds(1))
        let before = host.links.writes(to: .port).count

        host.loop.advance(by: interval * 20)

        let times = host.links.writes(to: .port).dropFirst(before).map(\.time)
        #expect(times.count == 20)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == interval })
        #expect(await session.status().poll_interval_ms == interval.milliseconds)
    }

    /// For a problem report: what a silent meter was asked, until a reading arrives.
    @Test func traffic_isKept_whileALinkBringsNoReading() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(5))
        let before = await session.support()
        #expect(before.traffic.isEmpty)
        #expect(before.transitions.last?.to == "data-available")

        host.links.setFaults(SimulatorFaults(.silence), at: .port)
        host.loop.advance(by: .seconds(120))
        let mute = await session.support()
        #expect(!mute.traffic.isEmpty)
        #expect(mute.traffic.count <= 32)
        #expect(mute.traffic.allSatisfy { $0.dir == "out" && $0.hex == "f0" && $0.bytes == 1 })
        #expect(mute.transitions.count <= 16)
        #expect(mute.transitions.contains { $0.cause.hasPrefix("no valid answer") })

        host.links.setFaults(SimulatorFaults(), at: .port)
        host.loop.advance(by: .seconds(120))
        #expect(await session.support().traffic.isEmpty)
    }

    @Test func pollInterval_changesTheRhythm_ofARunningLink() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(5))
        let before = host.links.writes(to: .port).count

        await session.adopt(["poll-interval": "2s"])
        host.loop.advance(by: .seconds(20))

        let times = host.links.writes(to: .port).dropFirst(before + 1).map(\.time)
        #expect(times.count >= 9)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == .seconds(2) })
        #expect(await session.status().poll_interval_ms == 2000)
        #expect(await session.state == "data-available")
        #expect(await session.status().counters.connects == 1)
    }

    @Test func pollInterval_ofAMinute_keepsTheMeterFromGoingStale() async throws {
        let session = try await host.pluggedIn(.um25c, settings: ["poll-interval": "1m"])
        host.loop.advance(by: .seconds(3600))

        #expect(await session.state == "data-available")
        #expect(await session.status().counters.disconnects == 0)
        #expect(await session.status().counters.readings == 60)
    }

    @Test func staleAfter_isObeyed() async throws {
        let session = try await host.pluggedIn(.um25c, settings: ["stale-after": "10s"])
        host.loop.advance(by: .milliseconds(20))
        host.links.setFaults(SimulatorFaults(.silence), at: .port)

        host.loop.advance(by: .milliseconds(9999))
        #expect(await session.state == "data-available")
        host.loop.advance(by: .milliseconds(1))
        #expect(await session.state == "communicating")
    }

    @Test func temperatureUnit_ofTheMetersMenu_isTurnedIntoCelsius() async throws {
        host.links.plug(SimulatedTC66(model: .tc66c, temperatureUnit: .fahrenheit), at: .port)
        let session = host.session(.tc66c, settings: ["temperature-unit": "F"])
        await session.appeared(.of(.tc66c))
        host.loop.advance(by: .seconds(2))

        let load = ElectricalLoad().state(step: 15, length: 0.1)
        let reading = try #require(await session.status().reading?.reading)
        #expect(abs(try #require(reading[.temperature]) - load.temperature) < 1)
    }

    /// A report of a J7-C (syssi/esphome-atorch-dl24, docs/pdus/atorch-j7-c.txt) at another second and with another voltage, in
    /// hundredths, whose check byte nobody has worked out.
    private func report(second: UInt8, volts: UInt16) -> [UInt8] {
        let head: [UInt8] = [0xFF, 0x55, 0x01, 0x03, 0, UInt8(volts >> 8), UInt8(volts & 0xFF), 0, 0, 0x23]
        return head + [0, 1, 0x5A, 0, 0, 2, 0xBF, 0, 9, 0, 9, 0, 0x1F, 0, 0, 0x26, second]
            + [0x3C, 0x0D, 0xAC, 0x01, 0x22, 0x03, 0x20, 0, 0x01]
    }

    /// A report that breaks with the last waits for the next, and keeps the time at which it came. One that nothing confirms is
    /// counted. The meter's setting lets everything pass.
    @Test(arguments: [true, false]) func heldReport_hasTheTimeAtWhichItCame(isFiltering: Bool) async throws {
        var quirks = SimulatedAtorch.Quirks()
        quirks.isSilentUntilCommand = true
        host.links.plug(SimulatedAtorch(model: .atorchUSB, quirks: quirks), at: .port)
        let session = host.session(.atorchUSB, settings: isFiltering ? [:] : ["filter": "off"])
        await session.appeared(.of(.atorchUSB))
        host.loop.advance(by: .seconds(1))
        let feed = session.readings.subscribe()
        let start = host.loop.now

        for (second, volts) in [500, 500, 900, 900, 900, 2000, 900, 900].enumerated() {
            host.links.inject(report(second: UInt8(second), volts: UInt16(volts)), at: .port)
            host.loop.advance(by: .seconds(1))
        }
        session.readings.finish()
        var told: [String] = []
        for await element in feed {
            let second = (element.value.time - start).milliseconds / 1000
            told.append("\(second): \(element.value.reading[.voltage] ?? 0)")
        }

        let all = ["0: 5.0", "1: 5.0", "2: 9.0", "3: 9.0", "4: 9.0", "5: 20.0", "6: 9.0", "7: 9.0"]
        #expect(told == all.filter { !isFiltering || $0 != "5: 20.0" })
        #expect(await session.status().counters.filtered_samples == (isFiltering ? 1 : nil))
    }

    // MARK: - Faults

    /// What the meter measured when it was asked, in the steps of its model. The load is the truth; the bytes, the
    /// decoder and the session lie between it and the reading.
    ///
    /// - Parameter measured: the voltage, which of one model is what source and sink have agreed on.
    private func truth(
        _ model: ModelName, askedAt time: MonotonicTime, _ measured: Double
    ) -> (voltage: Double, current: Double) {
        let (length, voltage, current) =
            switch model {
            case .um25c: (0.5, 1000.0, 10_000.0)
            case .um24c, .um34c: (0.5, 100.0, 1000.0)
            case .tc66c: (0.1, 10_000.0, 100_000.0)
            default: (0.5, 1e6, 1e6)
            }
        let step = Int(time.sinceOrigin.nanoseconds / Int64(length * 1e9))
        var state = ElectricalLoad().state(step: step, length: length)
        if model == .km003c {
            // Nothing, what is fixed, and what is programmable; the load takes the same power from each.
            let agreed = [0, 5000, 9000] + (0...15).map { 8400 + 40 * $0 }
            let factors = agreed.map { Double($0) / 5000 }
            let factor = factors.min { abs(state.voltage * $0 - measured) < abs(state.voltage * $1 - measured) } ?? 1
            state.voltage *= factor
            state.current = factor > 0 ? state.current / factor : 0
        }
        return ((state.voltage * voltage).rounded() / voltage, (state.current * current).rounded() / current)
    }

    @Test(
        arguments: [ModelName.um24c, .um25c, .um34c, .tc66c, .km003c],
        SimulatorFaults.Kind.allCases)
    func faults_neverMakeAReadingThatTheMeterDidNotMean(model: ModelName, kind: SimulatorFaults.Kind) async throws {
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(model)), at: .port)
        host.links.setFaults(SimulatorFaults(kind, every: 3), at: .port)
        let session = host.session(model)
        let readings = session.readings.subscribe(buffer: 100_000)
        await session.appeared(.of(model))
        host.loop.advance(by: .seconds(300))
        let counters = await session.status().counters
        #expect(await host.leave(session) == .none)

        var count = 0
        for await item in readings {
            count += 1
            let voltage = try #require(item.value.reading[.voltage])
            let expected = truth(model, askedAt: item.value.time - .milliseconds(20), voltage)
            let current = try #require(item.value.reading[.current])
            #expect(abs(voltage - expected.voltage) < 1e-9)
            #expect(abs(current - expected.current) < 1e-9)
        }
        #expect(count == counters.readings)
        #expect(count > 100)
        if kind != .silence { #expect(counters.skipped_bytes > 0) }
        if kind != .shifted { #expect(counters.timeouts > 10) }
    }

    @Test func meterThatOnlyFails_hasNoDataEver() async throws {
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: .port)
        host.links.setFaults(SimulatorFaults(.wrongCheck), at: .port)
        let session = host.session(.um25c)
        await session.appeared(.of(.um25c))
        host.loop.advance(by: .seconds(3600))

        let status = await session.status()
        #expect(status.counters.readings == 0)
        #expect(status.reading == nil)
        #expect(status.age_ms == nil)
        #expect(!host.transitions().contains { $0.to == "data-available" })
        #expect(status.counters.skipped_bytes > 130)
        let rejected = try #require(status.rejected_answers)
        #expect(rejected > 100)
        #expect(status.error == "\(rejected) answers rejected (wrong check); is it really a UM25C?")
    }

    @Test func firstGoodAnswer_endsTheDoubt_andTheNextBadOnesBeginAnew() async throws {
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: .port)
        host.links.setFaults(SimulatorFaults(.wrongCheck), at: .port)
        let session = host.session(.um25c)
        await session.appeared(.of(.um25c))
        host.loop.advance(by: .seconds(60))
        #expect(await session.status().rejected_answers != nil)

        host.links.setFaults(SimulatorFaults(), at: .port)
        host.loop.advance(by: .seconds(60))
        let good = await session.status()
        #expect(good.state == "data-available")
        #expect(good.error == nil)
        #expect(good.rejected_answers == nil)

        host.links.setFaults(SimulatorFaults(.wrongCheck), at: .port)
        host.loop.advance(by: .seconds(3))
        let doubtful = await session.status()
        #expect(doubtful.rejected_answers ?? 0 < 10)
    }

    /// One that says nothing is silent, and not of a wrong model.
    @Test func silence_isNoWrongAnswer() async throws {
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: .port)
        host.links.setFaults(SimulatorFaults(.silence), at: .port)
        let session = host.session(.um25c)
        await session.appeared(.of(.um25c))
        host.loop.advance(by: .seconds(600))

        let status = await session.status()
        #expect(status.rejected_answers == nil)
        #expect(status.error?.contains("rejected") != true)
    }

    @Test func noise_isCounted_andCostsNoReading() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .milliseconds(300))

        host.links.inject([0x55, 0xAA, 0x55], at: .port)
        host.loop.advance(by: .seconds(5))

        let counters = await session.status().counters
        #expect(counters.skipped_bytes == 3)
        #expect(counters.resynchronisations == 1)
        #expect(counters.timeouts == 0)
        #expect(counters.readings == 11)
    }

    // MARK: - Commands

    private func latestBlock(_ traffic: Feed<TrafficRecord>.Subscription) async throws -> [FrameDetail] {
        var decoder = UMDecoder()
        var details: [FrameDetail] = []
        for await item in traffic where item.value.direction == .inward {
            decoder.append(item.value.bytes)
            while case .frame(let frame) = decoder.next() { details = frame.content.details }
        }
        return details
    }

    @Test func commands_reachTheMeter_halfASecondApart() async throws {
        let session = try await host.pluggedIn(.um25c)
        let traffic = session.traffic.subscribe(buffer: 1000)
        host.loop.advance(by: .milliseconds(5100))

        let brightness = Task.immediate { try await session.perform(MeterCommand(.brightness, 2)) }
        let timeout = Task.immediate { try await session.perform(MeterCommand(.screenTimeout, 7)) }
        let screen = Task.immediate { try await session.perform(MeterCommand(.nextScreen)) }
        host.loop.advance(by: .seconds(5))
        try await brightness.value
        try await timeout.value
        try await screen.value
        #expect(await host.leave(session) == .none)

        let commands = host.links.writes(to: .port).filter { $0.bytes != [0xF0] }
        #expect(commands.map(\.bytes) == [[0xD2], [0xE7], [0xF1]])
        #expect(zip(commands, commands.dropFirst()).allSatisfy { $1.time - $0.time >= .milliseconds(500) })
        // The simulator loses a command that comes too soon, as a real meter does: each shows in the next block.
        let details = try await latestBlock(traffic)
        #expect(details.contains(FrameDetail("brightness", .integer(2))))
        #expect(details.contains(FrameDetail("screen_timeout_min", .integer(7))))
        #expect(details.contains(FrameDetail("screen", .integer(1))))
    }

    @Test func command_waitsForTheAnswerThatIsDue() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .milliseconds(510))

        let command = Task.immediate { try await session.perform(MeterCommand(.rotate)) }
        #expect(host.links.writes(to: .port).last?.bytes == [0xF0])
        host.loop.advance(by: .milliseconds(10))

        #expect(host.links.writes(to: .port).last?.bytes == [0xF2])
        try await command.value
    }

    @Test func command_isRefused_whileNotConnected() async throws {
        let session = try await host.pluggedIn(.um25c, isWanted: false)

        let error = await #expect(throws: GatewayError.self) { try await session.perform(MeterCommand(.rotate)) }

        #expect(error?.code == .notConnected)
        #expect(error?.message == "02:00:00:00:25:0C is not-connected, so it takes no command")
        #expect(error?.next == "meterctl connect 02:00:00:00:25:0C")
    }

    @Test func command_thatTheModelDoesNotKnow_saysWhichItKnows() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(1))

        let unknown = await #expect(throws: GatewayError.self) { try await session.perform(MeterCommand(.price, 5)) }
        let tooBright = await #expect(throws: GatewayError.self) {
            try await session.perform(MeterCommand(.brightness, 6))
        }

        #expect(unknown?.code == .badRequest)
        #expect(unknown?.next.contains("brightness 0-5") == true)
        #expect(tooBright?.code == .badRequest)
        #expect(tooBright?.message.contains("6") == true)
        #expect(!host.links.written(to: .port).contains { $0 != 0xF0 })
    }

    @Test func command_thatWaits_fails_whenTheLinkIsLost() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .milliseconds(100))
        let first = Task.immediate { try await session.perform(MeterCommand(.rotate)) }
        let second = Task.immediate { try await session.perform(MeterCommand(.rotate)) }

        host.links.unplug(.port)
        try await first.value
        let error = await #expect(throws: GatewayError.self) { try await second.value }

        #expect(error?.code == .notConnected)
        #expect(host.links.written(to: .port) == [0xF0, 0xF2])
    }

    // MARK: - Waiting for data

    @Test func wait_ends_asSoonAsDataComes() async throws {
        let session = try await host.pluggedIn(.um25c)

        let waiting = Task.immediate { await session.waitForData(.seconds(60)) }
        host.loop.advance(by: .milliseconds(20))

        #expect(await waiting.value == .data)
        #expect(await session.waitForData(.seconds(60)) == .data, "there is data already")
    }

    @Test func wait_timesOut_whenNoDataComes() async throws {
        let session = host.session(.um25c)

        let waiting = Task.immediate { await session.waitForData(.seconds(5)) }
        host.loop.advance(by: .seconds(5))

        #expect(await waiting.value == .timedOut)
        #expect(host.loop.pendingTimers == 0)
    }

    @Test func waits_end_whenSomebodyDisconnects() async throws {
        let session = host.session(.um25c)
        let first = Task.immediate { await session.waitForData(.seconds(5)) }
        let second = Task.immediate { await session.waitForData(.seconds(50)) }

        await session.disconnect()

        #expect(await first.value == .disconnected)
        #expect(await second.value == .disconnected)
        #expect(host.loop.pendingTimers == 0)
    }

    // MARK: - Leaving

    @Test(arguments: [Duration.milliseconds(1), .milliseconds(150), .seconds(5), .milliseconds(5210)])
    func shutdown_leavesNothing_atAnyMoment(after: Duration) async throws {
        let session = try await host.pluggedIn(.um25c)
        let pushing = try await host.pluggedIn(.atorchUSB, id: .tc, at: "/dev/ttyUSB1")
        host.loop.advance(by: after)

        #expect(await host.leave(session, pushing) == .none)

        await session.appeared(.of(.um25c))
        await session.connect()
        host.loop.advance(by: .seconds(60))
        #expect(await session.state == "not-connected")
        #expect(host.links.openChannels == 0)
        #expect(await session.waitForData(.seconds(60)) == .shuttingDown)
    }

    /// Its screen says "connected" until the host disconnects (Docs/Protocols/KM003C.md#link).
    @Test(arguments: [Duration.milliseconds(1), .seconds(5)])
    func km003c_isToldThatWeLeave(after: Duration) async throws {
        let session = try await host.pluggedIn(.km003c)
        host.loop.advance(by: after)
        let connect = try #require(host.links.writes(to: .port).first)
        #expect(connect.bytes.first == 0x02)

        #expect(await host.leave(session) == .none)

        let last = try #require(host.links.writes(to: .port).last?.bytes)
        #expect(last.count == 4)
        #expect(last.first == 0x03)
    }

    @Test func streams_end_whenTheSessionDoes() async throws {
        let session = try await host.pluggedIn(.um25c)
        let readings = session.readings.subscribe()
        host.loop.advance(by: .seconds(2))
        _ = await host.leave(session)

        var count = 0
        for await _ in readings { count += 1 }
        #expect(count == 4)
        #expect(!session.readings.hasListeners)
    }

    // MARK: - What people see

    @Test func reading_hasTheTimeAtWhichItsBytesCame() async throws {
        let session = try await host.pluggedIn(.um25c)
        let readings = session.readings.subscribe()
        host.loop.advance(by: .milliseconds(20))
        _ = await host.leave(session)

        for await item in readings {
            #expect(item.value.time == MonotonicTime(sinceOrigin: .milliseconds(20)))
            #expect(item.value.wallTime == WallTime(millisecondsSince1970: 1_780_000_000_020))
        }
    }

    @Test func scanEntry_isThereAsLongAsTheMeterIs() async throws {
        let session = host.session(.um25c, settings: ["name": "Bench"])
        #expect(await session.scanEntry() == nil)

        await session.appeared(.of(.um25c, name: "UM25C"))
        #expect(
            await session.scanEntry()
                == ScanEntry(
                    id: "02:00:00:00:25:0C", model: "UM25C", name: "Bench", transport: "serial", port: .port,
                    state: "connecting"))

        await session.vanished(from: .serial(path: .port))
        #expect(await session.scanEntry() == nil)
    }

    @Test func anotherModelThanExpected_isShown_andTold() async throws {
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um34c)), at: .port)
        let session = host.session(.um25c)
        await session.appeared(.of(.um25c))
        host.loop.advance(by: .seconds(5))

        #expect(await session.status().model == "UM34C")
        let told = host.log.entries(saying: "meter reports a different model than expected")
        #expect(told.map { $0.values["found"] } == ["UM34C"])
    }
}
