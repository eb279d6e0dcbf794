import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedAtorchTests {
    private func reading(_ meter: inout SimulatedAtorch, at time: Duration) throws -> Reading {
        var reading: Reading?
        var decoder = AtorchDecoder()
        for bytes in meter.due(at: time) { decoder.append(bytes) }
        while case .frame(let frame) = decoder.next() { frame.content.forEachReading { reading = $0 } }
        return try #require(reading)
    }

    @Test(arguments: [ModelName.atorchUSB, .atorchDC, .atorchAC])
    func report_comesEachSecond_withItsKnownCheck(model: ModelName) {
        var meter = SimulatedAtorch(model: model)
        #expect(meter.nextDue == .seconds(1))
        #expect(meter.due(at: .milliseconds(999)).isEmpty)
        #expect(meter.due(at: .seconds(1)).count == 1)
        #expect(meter.nextDue == .seconds(2))

        var matches = 0
        for bytes in meter.due(at: .seconds(6)) {
            var decoder = AtorchDecoder()
            decoder.append(bytes)
            if case .frame(.atorchReport(let report)) = decoder.next(), report.checkMatches { matches += 1 }
        }
        #expect(matches == 5)
    }

    @Test func counters_goOn_andTimeIsCounted() throws {
        var meter = SimulatedAtorch(model: .atorchUSB)
        let reading = try reading(&meter, at: .seconds(3725))
        #expect(reading[.duration] == 3725)
        // About an hour at 5 V with a current that starts at 1.5 A and halves in half an hour.
        #expect(try (500...1500).contains(#require(reading[.charge])))
        #expect(try (2.5...8).contains(#require(reading[.energy])))
        #expect(try (4.9...5.2).contains(#require(reading[.voltage])))
    }

    @Test(arguments: [ModelName.atorchUSB, .atorchDC, .atorchAC])
    func everyCommandOfTheDriver_isAcknowledged(model: ModelName) throws {
        var meter = SimulatedAtorch(model: model)
        var driver = AtorchDriver(model: model)
        for rule in driver.profile.commands where rule.kind != .resetEnergy {
            var acknowledged = 0
            for bytes in meter.receive(try driver.encode(MeterCommand(rule.kind, rule.numbers?.upperBound)), at: .zero)
            {
                driver.receive(bytes) { if case .acknowledged = $0 { acknowledged += 1 } }
            }
            #expect(acknowledged == 1, "\(rule.kind)")
        }
    }

    @Test func commandOfAnotherType_isRejected() throws {
        var meter = SimulatedAtorch(model: .atorchUSB)
        let command = try AtorchDriver(model: .atorchAC).encode(MeterCommand(.clearAll))
        var driver = AtorchDriver(model: .atorchUSB)
        var rejected = 0
        for bytes in meter.receive(command, at: .zero) {
            driver.receive(bytes) { if case .rejected = $0 { rejected += 1 } }
        }
        #expect(rejected == 1)
    }

    @Test func clearing_clearsWhatItNames() throws {
        var meter = SimulatedAtorch(model: .atorchUSB)
        let driver = AtorchDriver(model: .atorchUSB)
        _ = meter.due(at: .seconds(600))
        _ = meter.receive(try driver.encode(MeterCommand(.clearCharge)), at: .seconds(600))
        let half = try reading(&meter, at: .seconds(601))
        #expect(half[.charge] == 0)
        #expect(try #require(half[.energy]) > 0.5)
        #expect(half[.duration] == 601)
        _ = meter.receive(try driver.encode(MeterCommand(.clearAll)), at: .seconds(601))
        let all = try reading(&meter, at: .seconds(602))
        #expect(all[.energy] == 0)
        #expect(all[.duration] == 1)
    }

    @Test func settings_showInTheReport() throws {
        var meter = SimulatedAtorch(model: .atorchAC)
        let driver = AtorchDriver(model: .atorchAC)
        _ = meter.receive(try driver.encode(MeterCommand(.price, 42)), at: .zero)
        _ = meter.receive(try driver.encode(MeterCommand(.screenTimeout, 15)), at: .zero)

        var decoder = AtorchDecoder()
        meter.due(at: .seconds(1)).forEach { decoder.append($0) }
        guard case .frame(.atorchReport(let report)) = decoder.next() else {
            Issue.record("no report")
            return
        }
        #expect(report.reading[.price] == 0.42)
        #expect(report.backlight == 15)
    }

    @Test func silentMeter_startsWithTheFirstCommand_andDoesNotCatchUp() throws {
        var quirks = SimulatedAtorch.Quirks()
        quirks.isSilentUntilCommand = true
        var meter = SimulatedAtorch(model: .atorchUSB, quirks: quirks)
        #expect(meter.nextDue == nil)
        #expect(meter.due(at: .seconds(20)).isEmpty)

        let command = try AtorchDriver(model: .atorchUSB).encode(MeterCommand(.enter))
        #expect(meter.receive(command, at: .milliseconds(30_500)).count == 1)
        #expect(meter.nextDue == .seconds(31))
        #expect(try reading(&meter, at: .seconds(31))[.duration] == 31)
        meter.powerCycle()
        #expect(meter.nextDue == nil)
    }

    @Test func report_isCutAsBluetoothDoes() {
        var quirks = SimulatedAtorch.Quirks()
        quirks.pieces = [20, 16]
        var meter = SimulatedAtorch(model: .atorchDC, quirks: quirks)
        #expect(meter.due(at: .seconds(2)).map(\.count) == [20, 16, 20, 16])
        quirks.pieces = [8, 7, 9, 7]
        meter = SimulatedAtorch(model: .atorchDC, quirks: quirks)
        #expect(meter.due(at: .seconds(1)).map(\.count) == [8, 7, 9, 7, 5])
    }

    @Test func powerCycle_keepsWhatWasCounted() throws {
        var meter = SimulatedAtorch(model: .atorchUSB)
        let before = try reading(&meter, at: .seconds(60))
        meter.powerCycle()
        let after = try reading(&meter, at: .seconds(1))
        #expect(after[.duration] == 61)
        #expect(try #require(after[.charge]) >= #require(before[.charge]))
    }

    /// A wrong check byte costs no report until three in a row were right, since several models send one that nobody
    /// knows.
    @Test(arguments: [
        (SimulatorFaults.Kind.shortBlock, 4), (.silence, 4), (.garbage, 4), (.shifted, 8), (.wrongCheck, 8),
    ])
    func fault_spoilsItsReport_andNoOther(kind: SimulatorFaults.Kind, whole: Int) {
        var meter = SimulatedAtorch(model: .atorchUSB)
        meter.faults = SimulatorFaults(kind, every: 2)
        var driver = AtorchDriver(model: .atorchUSB)
        var frames = 0
        for bytes in meter.due(at: .seconds(8)) {
            driver.receive(bytes) { if case .frame = $0 { frames += 1 } }
        }
        #expect(frames == whole)
    }

    @Test func wrongCheck_costsItsReport_fromAMeterThatSentThreeRightOnes() {
        var meter = SimulatedAtorch(model: .atorchUSB)
        meter.faults = SimulatorFaults(.wrongCheck, every: 4)
        var driver = AtorchDriver(model: .atorchUSB)
        var (frames, skipped) = (0, 0)
        for bytes in meter.due(at: .seconds(8)) {
            driver.receive(bytes) { event in
                switch event {
                case .frame: frames += 1
                case .skipped(let count, .wrongCheck): skipped += count
                default: Issue.record("\(event)")
                }
            }
        }
        #expect(frames == 6)
        #expect(skipped == 2 * 36)
    }

    // MARK: Kin

    /// Ten minutes of a meter, cut as Bluetooth does: reports that were read, bytes that were skipped, and reports whose check
    /// byte fits a rule.
    private func heard(_ model: ModelName, _ quirks: SimulatedAtorch.Quirks, _ faults: SimulatorFaults = .none) -> (
        reports: Int, skipped: Int, matching: Int
    ) {
        var quirks = quirks
        quirks.pieces = [20, 16]
        var meter = SimulatedAtorch(model: model, quirks: quirks)
        meter.faults = faults
        var driver = AtorchDriver(model: model)
        _ = driver.opening()
        var (reports, skipped, matching) = (0, 0, 0)
        for second in 1...600 {
            for bytes in meter.due(at: .seconds(second)) {
                driver.receive(bytes) { event in
                    switch event {
                    case .frame(.atorchReport(let report)):
                        reports += 1
                        if report.checkMatches { matching += 1 }
                    case .skipped(let count, _): skipped += count
                    default: Issue.record("\(event)")
                    }
                }
            }
        }
        return (reports, skipped, matching)
    }

    /// Not a single report is lost, whatever its last byte is.
    @Test(arguments: [
        (ModelName.atorchUSB, SimulatedAtorch.Quirks.j7H, 600...600), (.atorchUSB, .newerJ7C, 600...600),
        (.atorchDC, .constantCheck, 0...30), (.atorchDC, .noCheck, 0...30), (.atorchAC, .noCheck, 0...30),
        (.atorchUSB, .noCheck, 0...30),
    ])
    func everyCheckByte_isLivedWith(model: ModelName, quirks: SimulatedAtorch.Quirks, matching: ClosedRange<Int>) {
        let heard = heard(model, quirks)
        #expect(heard.reports == 600)
        #expect(heard.skipped == 0)
        // By chance one in 128 fits one of the two rules.
        #expect(matching.contains(heard.matching), "\(heard.matching)")
    }

    /// Half a report costs itself alone, also where no check byte says so.
    @Test(arguments: [
        (ModelName.atorchUSB, SimulatedAtorch.Quirks.newerJ7C), (.atorchDC, .constantCheck), (.atorchAC, .noCheck),
    ])
    func lostHalf_costsItsReportAlone(model: ModelName, quirks: SimulatedAtorch.Quirks) {
        let heard = heard(model, quirks, SimulatorFaults(.shortBlock, every: 7))
        #expect(heard.reports == 600 - 85)
        #expect(heard.skipped == 85 * 18)
    }

    /// A J7-H answers with its own type, and knows neither 31 nor 32.
    @Test func j7H_refusesKeysThatItDoesNotHave() throws {
        var meter = SimulatedAtorch(model: .atorchUSB, quirks: .j7H)
        var driver = AtorchDriver(model: .atorchUSB)
        var heard: [String] = []
        for command in [MeterCommand(.setup), MeterCommand(.enter), MeterCommand(.clearAll)] {
            for bytes in meter.receive(try driver.encode(command), at: .zero) {
                #expect(bytes[3] == 3)
                driver.receive(bytes) { event in
                    if case .acknowledged = event { heard.append("done") }
                    if case .rejected = event { heard.append("refused") }
                }
            }
        }
        #expect(heard == ["refused", "refused", "done"])
        let report = try #require(meter.due(at: .seconds(1)).first)
        #expect(report[34] == 100)
    }
}
