import Domain
import MeterCodec
import MeterSimulator
import Testing

/// A driver that is to fetch what a meter samples by its own clock.
struct KM003CSamplingTests {
    /// A meter and the driver that asks it, on one clock. Each poll is answered before the next.
    private struct Bench {
        var meter: SimulatedKM003C
        var driver: KM003CDriver
        var time = Duration.zero
        var events: [String] = []
        var requests: [String] = []
        var readings: [(Reading, UInt16?)] = []

        init(_ model: ModelName = .km003c, over transport: LinkAddress.Transport = .bulk, rate: Int? = 1000) {
            meter = SimulatedKM003C(model: model)
            driver = KM003CDriver(model: model, over: transport)
            driver.wantedRate = rate
            for step in driver.opening() { _ = meter.receive(step.bytes, at: time) }
        }

        /// - Parameter isAnswered: false for answers that are lost, and overdue.
        mutating func poll(_ count: Int = 1, isAnswered: Bool = true) {
            for _ in 0..<count {
                let request = driver.poll()
                requests.append(Hex.encode([request[0]] + request[2..<4]))
                let answers = meter.receive(request, at: time)
                time += driver.sampling.requestInterval ?? .milliseconds(200)
                guard isAnswered else {
                    _ = driver.discardPartial()
                    continue
                }
                for answer in answers { take(answer) }
            }
        }

        mutating func take(_ answer: [UInt8]) {
            var found: [(Reading, UInt16?)] = []
            var seen: [String] = []
            driver.receive(answer) { event in
                switch event {
                case .frame(let frame):
                    seen.append("frame")
                    frame.forEachSample { found.append(($0, $1)) }
                case .acknowledged: seen.append("acknowledged")
                case .rejected: seen.append("rejected")
                default: seen.append("other")
                }
            }
            readings += found
            events += seen
        }
    }

    @Test func profile_knowsTheRates_andOnlyThoseAreWanted() {
        var driver = KM003CDriver(model: .km003c)
        #expect(driver.profile.rates == [2, 10, 50, 1000])
        driver.wantedRate = 50
        #expect(driver.wantedRate == 50)
        driver.wantedRate = 49
        #expect(driver.wantedRate == nil)
    }

    @Test func meterThatIsNotAskedToSample_isMeasured() {
        var bench = Bench(rate: nil)
        bench.poll(3)
        #expect(bench.requests == ["0c2200", "0c2200", "0c2200"])
        #expect(bench.driver.sampling == MeterSampling())
        #expect(bench.readings.allSatisfy { $0.1 == nil })
    }

    /// The order of a captured session (km003c_session_graph_1000sps): the hardware id, the proof, the graph, the queue.
    @Test(arguments: [(2, "0e0000"), (10, "0e0200"), (50, "0e0400"), (1000, "0e0600")])
    func rate_isProvedStartedAndFetched(rate: Int, start: String) {
        var bench = Bench(rate: rate)
        bench.poll(3)
        #expect(bench.requests == ["440101", "4c0002", start])
        #expect(bench.events == ["acknowledged", "acknowledged", "acknowledged"])
        #expect(bench.driver.sampling.rate == rate)
        #expect(bench.driver.sampling.failure == nil)
        #expect(bench.driver.sampling.requestInterval == .milliseconds(rate == 1000 ? 20 : 100))
        #expect(!bench.meter.isOpenForCalibration)
        bench.poll(20)
        let fetched = Set(bench.requests.dropFirst(3))
        #expect(fetched == (rate == 1000 ? ["0c0400", "0c0600", "0c2000"] : ["0c0600", "0c2000"]))
    }

    @Test func thousandASecond_comeWithoutAGap_withTheirTicks_andTheMetersTemperature() throws {
        var bench = Bench()
        bench.poll(3)
        // Across the wrap of the meter's count.
        bench.poll(3500)
        let ticks = bench.readings.compactMap(\.1)
        #expect(ticks.count == bench.readings.count)
        #expect(ticks.count > 69_000)
        #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1 &- $0 == 1 })
        let warm = bench.readings.count { $0.0[.temperature] != nil }
        #expect(warm == 350)
        #expect(bench.readings.allSatisfy { $0.0[.cc1] != nil && $0.0[.power] != nil })
    }

    @Test func frame_saysOfWhichTicksItHasSamples() throws {
        let bytes = KM003CSample.queue(sequences: [65_516, 0, 40])
        var decoder = KM003CDecoder()
        decoder.append(bytes)
        guard case .frame(let unknown) = decoder.next() else { throw Missing() }
        #expect(unknown.sampleTicks == nil)

        var bench = Bench(rate: 50)
        bench.poll(3)
        bench.poll(1)
        var found: SampleTicks?
        let request = bench.driver.poll()
        let next = bench.driver.poll()
        bench.driver.receive([0x41, request[1]] + bytes.dropFirst(2)) { event in
            if case .frame(let frame) = event { found = frame.sampleTicks }
        }
        #expect(found == SampleTicks(oldest: 65_516, newest: 40, step: 20, count: 3))
        #expect(next[1] == request[1] + 1)
    }

    private struct Missing: Error {}

    @Test func measurementsWithoutSamples_areNoReading_whileTheMeterSamples() {
        var bench = Bench(rate: 2)
        bench.poll(3)
        bench.poll(50)
        let ticks = bench.readings.compactMap(\.1)
        #expect(ticks.count == bench.readings.count)
        #expect((9...11).contains(ticks.count))
        #expect(bench.driver.sampling.rate == 2)
    }

    @Test func otherRate_stopsAndStarts_withoutAnotherProof() {
        var bench = Bench(rate: 50)
        bench.poll(5)
        bench.requests = []
        bench.driver.wantedRate = 1000
        bench.poll(2)
        #expect(bench.requests == ["0f0000", "0e0600"])
        #expect(bench.driver.sampling.rate == 1000)
    }

    @Test func noRate_stops_andIsMeasuredAgain() {
        var bench = Bench(rate: 50)
        bench.poll(5)
        (bench.requests, bench.readings) = ([], [])
        bench.driver.wantedRate = nil
        bench.poll(3)
        #expect(bench.requests == ["0f0000", "0c2200", "0c2200"])
        #expect(bench.driver.sampling == MeterSampling())
        #expect(bench.readings.count == 2)
        #expect(bench.driver.closing().map { $0.bytes[0] } == [0x11, 0x03])
    }

    @Test func leaving_stopsTheGraph_once() {
        var bench = Bench()
        bench.poll(2)
        #expect(bench.driver.closing().map { $0.bytes[0] } == [0x11, 0x03])
        bench = Bench()
        bench.poll(3)
        #expect(bench.driver.closing().map { $0.bytes[0] } == [0x0F, 0x11, 0x03])
        #expect(bench.driver.closing().map { $0.bytes[0] } == [0x03])
        #expect(bench.driver.sampling == MeterSampling())
    }

    @Test func newLink_provesItselfAgain() {
        var bench = Bench()
        bench.poll(10)
        for step in bench.driver.closing() + bench.driver.opening() {
            _ = bench.meter.receive(step.bytes, at: bench.time)
        }
        bench.requests = []
        bench.poll(3)
        #expect(bench.requests == ["440101", "4c0002", "0e0600"])
    }

    // MARK: What goes wrong

    /// Nobody has shown a serial port that gives its queue.
    @Test(arguments: [(LinkAddress.Transport.serial, 1), (.bulk, 3)])
    func silence_isToldAfterSoManyAttempts_andTheMeterIsMeasured(over: LinkAddress.Transport, attempts: Int) {
        var bench = Bench(over: over)
        bench.poll(attempts - 1, isAnswered: false)
        #expect(bench.driver.sampling.failure == nil)
        bench.poll(1, isAnswered: false)
        #expect(
            bench.driver.sampling == MeterSampling(failure: "the meter did not answer when asked for its hardware id"))
        bench.poll(2)
        #expect(bench.requests.suffix(2) == ["0c2200", "0c2200"])
        #expect(bench.readings.count == 2)
    }

    @Test func answerThatIsLostOnce_costsNothingButTime() {
        var bench = Bench()
        bench.poll(1, isAnswered: false)
        bench.poll(1)
        bench.poll(1, isAnswered: false)
        // A second lies between two proofs.
        bench.poll(10)
        bench.poll(1, isAnswered: false)
        bench.poll(1)
        #expect(bench.requests.count { $0 == "0c2200" } == 9)
        #expect(
            bench.requests.filter { $0 != "0c2200" } == ["440101", "440101", "4c0002", "4c0002", "0e0600", "0e0600"])
        #expect(bench.driver.sampling.rate == 1000)
    }

    @Test func refusedRead_isTold_andWantedAgainIsTriedAgain() {
        var bench = Bench()
        let request = bench.driver.poll()
        bench.take([0x27, request[1], 0, 0])
        #expect(bench.driver.sampling.failure == "the meter refuses its hardware id")
        #expect(bench.events == ["acknowledged"])
        bench.driver.wantedRate = 1000
        #expect(bench.driver.sampling.failure != nil)
        bench.driver.wantedRate = 50
        #expect(bench.driver.sampling.failure == nil)
        bench.poll(3)
        #expect(bench.driver.sampling.rate == 50)
    }

    @Test func refusedProof_isTold() {
        var bench = Bench()
        bench.poll(1)
        _ = bench.driver.poll()
        bench.take([0x4C, 0x00, 0x01, 0x02] + [UInt8](repeating: 7, count: 32))
        #expect(bench.driver.sampling.failure == "the meter refuses access to its queue")
    }

    @Test func refusedStart_isTold_andIsNotTheRefusalOfACommand() {
        var bench = Bench()
        bench.poll(2)
        let start = bench.driver.poll()
        #expect(start[0] == 0x0E)
        bench.take([0x06, start[1], 0, 0])
        #expect(bench.events.last == "acknowledged")
        #expect(bench.driver.sampling == MeterSampling(failure: "the meter refuses to sample by its own clock"))
        #expect(bench.driver.closing().map { $0.bytes[0] } == [0x11, 0x03])
    }

    @Test func startThatIsNeverAnswered_isTriedThreeTimes() {
        var bench = Bench()
        bench.poll(2)
        bench.poll(3, isAnswered: false)
        #expect(bench.driver.sampling.failure == nil)
        bench.poll(1)
        #expect(bench.requests.suffix(4) == ["0e0600", "0e0600", "0e0600", "0c2200"])
        #expect(bench.driver.sampling.failure == "the meter does not answer when told to sample")
    }

    /// A late answer to a start that was repeated counts once, and one with a number that nobody gave never.
    @Test func acceptOfAnotherRequest_startsNothing() {
        var bench = Bench()
        bench.poll(2)
        let start = bench.driver.poll()
        bench.take([0x05, start[1] &+ 1, 0, 0])
        #expect(bench.driver.sampling.rate == nil)
        bench.take([0x05, start[1], 0, 0])
        #expect(bench.driver.sampling.rate == 1000)
        bench.take([0x05, start[1], 0, 0])
        #expect(bench.events.suffix(3) == ["other", "acknowledged", "other"])
    }

    /// Another program, or a reset: the meter keeps no samples any more. It is told to leave, connected to again and proved to.
    @Test(arguments: [(1000, 90), (50, 10)])
    func queueThatRunsDry_isBroughtBack_onceOnly(rate: Int, fetches: Int) {
        var bench = Bench(rate: rate)
        bench.poll(10)
        bench.meter.powerCycle()
        bench.requests = []
        bench.poll(fetches * 2 + 12)
        let restart = bench.requests.firstIndex(of: "0f0000") ?? 0
        #expect(bench.requests.prefix(restart).count { $0 != "0c2000" } >= fetches - 1)
        #expect(
            Array(bench.requests[restart...].prefix(7)) == [
                "0f0000", "030000", "020000", "100200", "440101", "4c0002", "0e0\(rate == 1000 ? 6 : 4)00",
            ])
        #expect(bench.driver.sampling.rate == rate)
        #expect(bench.meter.isConnected)

        bench.meter.powerCycle()
        bench.poll(fetches * 2 + 12)
        #expect(
            bench.driver.sampling
                == MeterSampling(failure: "the meter keeps no samples, although it was told to"))
        #expect(bench.requests.last == "0c2200")
    }

    /// Once a link and once a rate.
    @Test(arguments: [true, false])
    func queueThatRunsDry_isBroughtBackAgain_overANewLink_orAtAnotherRate(isLink: Bool) {
        var bench = Bench(rate: 50)
        for rate in [50, 10, 50] {
            if isLink {
                for step in bench.driver.closing() + bench.driver.opening() {
                    _ = bench.meter.receive(step.bytes, at: bench.time)
                }
            } else {
                bench.driver.wantedRate = rate
            }
            bench.poll(10)
            bench.meter.powerCycle()
            bench.poll(40)
            #expect(bench.driver.sampling.failure == nil)
            #expect(bench.driver.sampling.rate == (isLink ? 50 : rate))
        }
    }

    @Test func queueWithSamples_isNotTakenForDry() {
        var bench = Bench(rate: 10)
        bench.poll(400)
        #expect(!bench.requests.contains("0f0000"))
    }

    // MARK: KM002C

    /// It hides its hardware id and takes the start of its serial number for it, which a KM003C never hears.
    @Test func km002c_isProvedWithItsSerialNumber() {
        var bench = Bench(.km002c)
        bench.poll(5)
        #expect(bench.requests == ["440101", "440101", "440101", "4c0002", "0e0600"])
        #expect(bench.driver.sampling.rate == 1000)
        #expect(!bench.meter.isOpenForCalibration)
    }

    @Test func km002cThatCallsItselfKM003C_isNotProvedWithItsSerialNumber() {
        var bench = Bench(.km003c)
        bench.driver = KM003CDriver(model: .km002c, over: .bulk)
        bench.driver.wantedRate = 50
        for step in bench.driver.opening() { _ = bench.meter.receive(step.bytes, at: .zero) }
        bench.poll(20)
        #expect(!bench.meter.isOpenForCalibration)
        #expect(bench.driver.sampling.rate == 50)
    }
}
