import Cryptography
import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedTC66Tests {
    /// Every event that a driver makes of the meter's answers to some bytes.
    private func converse(
        _ meter: inout SimulatedTC66, _ driver: inout TC66Driver, _ bytes: [UInt8], at time: Duration
    ) -> [MeterEvent] {
        var events: [MeterEvent] = []
        for write in meter.receive(bytes, at: time) { driver.receive(write) { events.append($0) } }
        return events
    }

    private func block(_ meter: inout SimulatedTC66, at time: Duration) throws -> TC66Block {
        var decoder = TC66Decoder()
        for write in meter.receive(Array("getva".utf8), at: time) { decoder.append(write) }
        guard case .frame(.tc66(.block(let block))) = decoder.next() else {
            throw CodecError.truncated(have: decoder.pendingCount)
        }
        return block
    }

    /// Whichever group counts: its charge and energy are the reading's, once they have moved.
    @Test(arguments: [0, 1])
    func groupThatCounts_isTheReadings(group: Int) throws {
        var meter = SimulatedTC66(model: .tc66c, group: group)
        var driver = TC66Driver(model: .tc66c)
        var readings: [Reading] = []
        for second in 0...60 {
            for event in converse(&meter, &driver, driver.poll(), at: .seconds(second)) {
                if case .frame(let frame) = event { frame.forEachReading { readings.append($0) } }
            }
        }
        let last = try #require(readings.last)
        // 1.5 A at 5 V for a minute.
        #expect((24...26).contains(last[.charge] ?? 0))
        #expect((0.12...0.13).contains(last[.energy] ?? 0))
        #expect(!readings.contains { $0[.charge] == 0 && $0[.energy] ?? 0 > 0.02 })
    }

    @Test func answer_comesInThreeWritesOf64Bytes() {
        var meter = SimulatedTC66(model: .tc66)
        #expect(meter.receive(Array("getva".utf8), at: .zero).map(\.count) == [64, 64, 64])
        #expect(meter.receive(Array("getva\r\n".utf8), at: .zero).map(\.count) == [64, 64, 64])
        #expect(meter.receive(Array("get".utf8), at: .zero).isEmpty)
        #expect(meter.receive(Array("va".utf8), at: .zero).count == 3)
    }

    @Test func overTheRadio_theAnswerTakesItsTime_andIsOneWrite() {
        var meter = SimulatedTC66(model: .tc66c, over: .ble, answerTime: .milliseconds(800))
        #expect(meter.receive(Array("bgetva\r\n".utf8), at: .seconds(1)).isEmpty)
        #expect(meter.nextDue == .milliseconds(1800))
        #expect(meter.due(at: .milliseconds(1799)).isEmpty)
        #expect(meter.due(at: .milliseconds(1800)).map(\.count) == [192])
        #expect(meter.nextDue == nil)
    }

    @Test(arguments: ["getva", "getva\r\n", "bgetva", "bquery\r\n", "bgtrec\r\n", "bupdate\r\n"])
    func overTheRadio_nothingElseIsHeard(request: String) {
        var meter = SimulatedTC66(model: .tc66c, over: .ble)
        #expect(meter.receive(Array(request.utf8), at: .zero).isEmpty)
        #expect(meter.nextDue == nil)
    }

    @Test func overTheRadio_commandsTurnPagesAndScreen_inAnyPieces() throws {
        var meter = SimulatedTC66(model: .tc66c, over: .ble)
        let driver = TC66Driver(model: .tc66c, over: .ble)
        for kind in [MeterCommand.Kind.previousScreen, .nextScreen, .nextScreen, .rotate] {
            for byte in try driver.encode(MeterCommand(kind)) { _ = meter.receive([byte], at: .zero) }
        }
        #expect(meter.page == 1)
        #expect(meter.rotation == 1)
        #expect(meter.nextDue == nil)
    }

    @Test func values_renewEveryRefresh_notFaster() {
        var meter = SimulatedTC66(model: .tc66c)
        let first = meter.receive(Array("getva".utf8), at: .milliseconds(1000))
        let soon = meter.receive(Array("getva".utf8), at: .milliseconds(1099))
        let later = meter.receive(Array("getva".utf8), at: .milliseconds(1100))
        #expect(first == soon)
        #expect(first != later)
    }

    @Test func driver_readsWhatTheLoadIs() throws {
        let load = ElectricalLoad(seed: 7)
        var meter = SimulatedTC66(model: .tc66c, load: load)
        var driver = TC66Driver(model: .tc66c)
        var readings: [Reading] = []

        for step in driver.opening() { _ = converse(&meter, &driver, step.bytes, at: .zero) }
        for event in converse(&meter, &driver, driver.poll(), at: .seconds(60)) {
            if case .frame(let frame) = event { frame.content.forEachReading { readings.append($0) } }
        }

        let reading = try #require(readings.first)
        let state = load.state(step: 600, length: 0.1)
        #expect(readings.count == 1)
        #expect(abs(try #require(reading[.voltage]) - state.voltage) < 0.0001)
        #expect(abs(try #require(reading[.current]) - state.current) < 0.00001)
        // Which group counts shows in the next answer.
        #expect(reading[.charge] == nil)
        var charge: Double?
        for event in converse(&meter, &driver, driver.poll(), at: .seconds(61)) {
            if case .frame(let frame) = event { frame.content.forEachReading { charge = $0[.charge] } }
        }
        #expect(charge == (state.current * 61 / 3.6).rounded(.down))
    }

    @Test(arguments: [ElectricalLoad(), ElectricalLoad(startCurrent: 0, ambient: -30)])
    func fahrenheit_readsAsTheSameTemperature(load: ElectricalLoad) throws {
        var meter = SimulatedTC66(model: .tc66, load: load, temperatureUnit: .fahrenheit)
        var driver = TC66Driver(model: .tc66, temperatureUnit: .fahrenheit)
        var temperature: Double?
        for event in converse(&meter, &driver, driver.poll(), at: .seconds(1)) {
            if case .frame(let frame) = event { frame.content.forEachReading { temperature = $0[.temperature] } }
        }
        #expect(abs(try #require(temperature) - load.state(step: 10, length: 0.1).temperature) < 0.4)
    }

    @Test(arguments: [(-8.0, TemperatureUnit.celsius), (-30, .fahrenheit), (-8, .fahrenheit)])
    func signWord_isOneBelowZero_inTheUnitShown(ambient: Double, unit: TemperatureUnit) throws {
        let load = ElectricalLoad(startCurrent: 0, ambient: ambient)
        var meter = SimulatedTC66(model: .tc66, load: load, temperatureUnit: unit)
        let cipher = meter.receive(Array("getva".utf8), at: .seconds(1)).flatMap { $0 }
        var plain = [UInt8](repeating: 0, count: cipher.count)
        let worked = cipher.withUnsafeBytes { source in
            plain.withUnsafeMutableBytes { ECBCipher.tc66.decrypt(source, into: $0) }
        }
        #expect(worked)

        // -8 C is 17.6 F, which is above zero on that scale.
        let state = load.state(step: 10, length: 0.1)
        let shown = unit == .celsius ? state.temperature : state.temperature * 1.8 + 32
        #expect(Array(plain[88..<92]) == [shown < 0 ? 1 : 0, 0, 0, 0])
        #expect(plain[92] == UInt8(shown.magnitude.rounded()))
        #expect((ambient == -8 && unit == .fahrenheit) == (plain[88] == 0))
    }

    @Test func commands_turnPagesAndScreen() throws {
        var meter = SimulatedTC66(model: .tc66c)
        let driver = TC66Driver(model: .tc66c)
        for kind in [MeterCommand.Kind.previousScreen, .previousScreen, .nextScreen, .rotate] {
            #expect(meter.receive(try driver.encode(MeterCommand(kind)), at: .zero).isEmpty)
        }
        #expect(meter.page == 5)
        #expect(meter.rotation == 1)
    }

    @Test func loader_answersQueryAlone() {
        var meter = SimulatedTC66(model: .tc66, mode: .boot)
        #expect(meter.receive(Array("getva".utf8), at: .zero).isEmpty)
        #expect(meter.receive(Array("gtrec".utf8), at: .zero).isEmpty)
        #expect(meter.receive(Array("query".utf8), at: .zero) == [Array("boot".utf8)])
        meter.powerCycle()
        #expect(meter.receive(Array("query".utf8), at: .zero) == [Array("firm".utf8)])
    }

    @Test func update_isNotObeyed() {
        var meter = SimulatedTC66(model: .tc66)
        #expect(meter.receive(Array("update".utf8), at: .zero).isEmpty)
        #expect(meter.receive(Array("query".utf8), at: .zero) == [Array("firm".utf8)])
    }

    @Test func recording_holdsAtMost1440Records() throws {
        var meter = SimulatedTC66(model: .tc66)
        let load = ElectricalLoad()
        let three = try TC66Recording(meter.receive(Array("gtrec".utf8), at: .seconds(3)).flatMap { $0 })
        let full = try TC66Recording(meter.receive(Array("gtrec".utf8), at: .seconds(4000)).flatMap { $0 })

        #expect(three.samples.count == 3)
        #expect(try abs(#require(three.samples[0].voltage) - load.state(step: 0, length: 0.1).voltage) < 0.0001)
        #expect(full.samples.count == 1440)
    }

    /// 0.1 s is not a binary number: 4.7 / 0.1 is 46 and a bit in floating point.
    @Test func values_areThoseOfTheWholeStep_atEachOfThem() throws {
        let load = ElectricalLoad()
        for step in 1...200 {
            var meter = SimulatedTC66(model: .tc66, load: load)
            let voltage = try #require(block(&meter, at: .milliseconds(100 * step)).reading[.voltage])
            #expect(abs(voltage - load.state(step: step, length: 0.1).voltage) <= 0.00005001, "step \(step)")
        }
    }

    @Test func powerCycle_countsUp_andKeepsSerialAndGroups() throws {
        var meter = SimulatedTC66(model: .tc66)
        let before = try block(&meter, at: .seconds(60))
        meter.powerCycle()
        let after = try block(&meter, at: .zero)
        #expect(after.powerOnCount == before.powerOnCount + 1)
        #expect(after.serial == before.serial)
        #expect(try #require(before.groupTotals(0)).charge_mAh > 0)
        #expect(after.groupTotals(0) == before.groupTotals(0))
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_givesNoReading_andTheNextAnswerDoes(kind: SimulatorFaults.Kind) {
        var meter = SimulatedTC66(model: .tc66)
        meter.faults = SimulatorFaults(kind, every: 2)
        var driver = TC66Driver(model: .tc66)
        var frames = 0
        for second in 1...6 {
            _ = driver.discardPartial()
            for event in converse(&meter, &driver, driver.poll(), at: .seconds(second)) {
                if case .frame = event { frames += 1 }
            }
        }
        // A shifted answer is still a good one after its stray bytes.
        #expect(frames == (kind == .shifted ? 6 : 3))
    }
}
