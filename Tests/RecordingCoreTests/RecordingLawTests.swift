import Domain
import Testing

/// Recordings at their exact limits, after a restart, and the second time.
struct RecordingLawTests {
    private let threshold = RecordingRules(threshold: 0.1, hold: .seconds(5), gapMax: .seconds(60))

    // MARK: What is stored

    /// Every property comes back, whatever its kind, and each mark is told for its own reason alone.
    @Test func everyField_comesBack() throws {
        let id = RecordingID(host: .here, meter: .bench, token: 7, started: .start)
        var recording = Recording(id: id, name: "phone", trigger: .threshold, end: .gap, until: .start + .seconds(99))
        (recording.note, recording.source) = ("a note", "file.csv")
        var (before, after) = (TelemetryBody(), TelemetryBody())
        (before.details, after.details) = (["a": .number(1)], ["a": .number(2)])
        (recording.toldAtStart, recording.toldAtEnd) = (before, after)
        recording.totals.readings = 11
        recording.totals.recorded = .seconds(80)
        recording.totals.restarts = 3
        recording.totals.restore(
            gaps: [RecordingGap(start: .start + .seconds(-5), length: .seconds(19), cause: .silence)], count: 4,
            time: .seconds(19))
        recording.totals.voltage = IntegratedValue(least: 1, greatest: 4, mean: 2, seconds: 8)
        recording.totals.current = IntegratedValue(least: -1, greatest: 5, mean: 3, seconds: 16)
        recording.totals.power = IntegratedValue(least: 2, greatest: 6, mean: 4, seconds: 32)
        recording.totals.temperature = IntegratedValue(least: 3, greatest: 7, mean: 5, seconds: 64)
        recording.totals.charge.restore(total: 100, last: 200, resets: 5, jumps: 6)
        recording.totals.energy.restore(total: 300, last: 400, resets: 7, jumps: 8)
        let again = try #require(Recording(id: id, properties: recording.properties))
        #expect(again == recording)
        #expect(recording.properties["charge_mAh"] == .double(48 / 3.6))
        #expect(recording.properties["energy_Wh"] == .double(128 / 3600.0))
        #expect(again.marks == [.gaps, .hostRestarted, .counterReset, .counterJump, .imported])
        #expect(again.totals.duration == .seconds(99))

        // Without anything there is nothing but the counts.
        let plain = try #require(Recording(id: id, properties: ["trigger": .string("hand")]))
        #expect(plain == Recording(id: id, trigger: .hand))
        #expect(plain.totals.gapTime == .zero && plain.totals.voltage.seconds == 0 && plain.totals.restarts == 0)
    }

    @Test func mark_isToldForItsOwnReason() {
        func marks(_ change: (inout Recording) -> Void) -> [Recording.Mark] {
            var recording = Recording(
                id: RecordingID(host: .here, meter: .bench, token: 0, started: .start), trigger: .hand)
            recording.totals.readings = 1
            change(&recording)
            return recording.marks
        }
        #expect(marks { _ in } == [])
        #expect(marks { $0.totals.readings = 0 } == [.empty])
        #expect(marks { $0.source = "file" } == [.imported])
        #expect(marks { $0.totals.restarts = 1 } == [.hostRestarted])
        #expect(marks { $0.totals.add(RecordingGap(start: .start, length: .seconds(1), cause: .link)) } == [.gaps])
        #expect(marks { $0.totals.charge.restore(total: 1, last: 1, resets: 1, jumps: 0) } == [.counterReset])
        #expect(marks { $0.totals.energy.restore(total: 1, last: 1, resets: 1, jumps: 0) } == [.counterReset])
        #expect(marks { $0.totals.charge.restore(total: 1, last: 1, resets: 0, jumps: 1) } == [.counterJump])
        #expect(marks { $0.totals.energy.restore(total: 1, last: 1, resets: 0, jumps: 1) } == [.counterJump])
    }

    @Test(arguments: [
        ("1+2:link", 1), ("-1+0:host", 1), ("1+2:silence 3+4:link", 2), ("1+-1:link", 0), ("1+2:", 0), ("1+2:link:", 0),
        (":link", 0), ("12:link", 0), ("+2:link", 0), ("1+:link", 0), ("1+2+3:link", 0), ("1+2:moon", 0),
    ])
    func gap_isReadWhole_orLeftOut(text: String, count: Int) throws {
        let id = RecordingID(host: .here, meter: .bench, token: 0, started: .start)
        let read = try #require(
            Recording(id: id, properties: ["trigger": .string("hand"), "gaps": .string(text)]))
        #expect(read.totals.gaps.count == count && read.totals.gapCount == count)
    }

    @Test func id_isOfFourParts_andItsShortFormOfEightDigits() {
        let id = RecordingID(host: .here, meter: .bench, token: 12, started: .start)
        for text in [id.recordName + "/", "/" + id.recordName, id.recordName.replacing("/12/", with: "//12/")] {
            #expect(RecordingID(recordName: text) == nil, "\(text)")
        }
        var short: Set<String> = []
        for token in 0..<UInt64(200) {
            let text = RecordingID(host: .here, meter: .bench, token: token, started: .start).short
            #expect(text.utf8.count == 8)
            short.insert(text)
        }
        #expect(short.count == 200 && short.contains { $0.hasPrefix("0") }, "also those with a zero in front")
    }

    // MARK: Totals

    @Test func limits_areThoseOfTheDocumentation() {
        #expect(
            RecordingRules()
                == RecordingRules(threshold: nil, hold: .seconds(10), gapMax: .seconds(600), stepMax: .seconds(10)))
        #expect(RecordingTotals.gapsMax == 100 && BatteryTest.holdDefault == .seconds(10))
        #expect(LoadDrive.looksOffMax == 15 && LoadDrive.retryLooks == 10 && ValueSpread.binsMax == 16_384)
        #expect(RecordingTotals().gapCount == 0 && RecordingTotals().restarts == 0 && RecordingTotals().readings == 0)
    }

    /// At no time at all a counter may move by its last digit twice, and after a restart by anything.
    @Test func counter_mayRiseByTwoOfItsLastDigits_atOnce_andByAnythingAfterARestart() {
        for (rise, isJump) in [(2.0, false), (2.001, true)] {
            var totals = RecordingTotals()
            totals.add(TimedReading.at(0, 1, charge: 100, energy: 100).reading, step: nil, rules: RecordingRules())
            let next = TimedReading.at(0, 1, charge: 100 + rise, energy: 100 + rise / 16)
            totals.add(next.reading, step: .zero, rules: RecordingRules())
            #expect(totals.charge.jumps == (isJump ? 1 : 0))
            #expect(totals.energy.jumps == 0 && totals.energy.resets == 0)
            totals.charge.restore(total: 5, last: 100, resets: 0, jumps: 0)
            totals.add(TimedReading.at(0, 1, charge: 5000).reading, step: .zero, rules: RecordingRules())
            #expect(totals.charge.total == 4905 && totals.charge.jumps == 0)
        }
    }

    // MARK: The machine

    /// What was lost before it began is none of its gaps.
    @Test func lostLink_isOfTheRecordingThatWentOn() {
        var machine = RecordingMachine()
        machine.linkLost()
        machine.start(at: 0)
        _ = machine.received(.at(20, 1))
        #expect(machine.recording?.totals.gaps.map(\.cause) == [.silence])
        machine.linkLost()
        _ = machine.received(.at(40, 1))
        // The link is back: the next silence is the meter's own.
        _ = machine.received(.at(60, 1))
        #expect(machine.recording?.totals.gaps.map(\.cause) == [.silence, .link, .silence])
    }

    /// However short, what was not measured because of a restart is a gap.
    @Test func restart_isAGap_howeverShort() throws {
        var before = RecordingMachine()
        before.start(at: 0)
        before.receive(0, through: 10, amperes: 1)
        var after = RecordingMachine()
        after.resumed(try #require(before.recording))
        _ = after.received(.at(15, 1))
        _ = after.received(.at(16, 1))
        let totals = try #require(after.recording).totals
        #expect(totals.gaps == [RecordingGap(start: .start + .seconds(10), length: .seconds(5), cause: .host)])
        // Nobody knows what flowed meanwhile.
        #expect(totals.recorded == .seconds(11) && totals.current.seconds == 11)
        #expect(((totals.charge_mAh ?? 0) - 11 / 3.6).magnitude < 1e-12)
    }

    @Test func stop_neverEndsBeforeTheLastReading() throws {
        var machine = RecordingMachine()
        machine.start(at: 0)
        machine.receive(0, through: 10, amperes: 1)
        let stopped = machine.stop(at: .start + .seconds(-100), .origin + .seconds(11))
        #expect(stopped.ended?.until == .start + .seconds(10))
    }

    @Test func description_isOfWhatGoesOnOrWaits() throws {
        var machine = RecordingMachine()
        #expect(machine.described(name: "a", note: "b") == nil)
        machine.start(at: 0, name: "phone")
        let described = machine.described(name: "a", note: "b")
        #expect(described?.name == "a" && described?.note == "b")
        #expect(machine.recording == described)
        #expect(machine.stop(at: 1).ended?.note == "b")

        var waiting = RecordingMachine(RecordingRules(hold: .seconds(5)))
        let test = try BatteryTest(until: "current < 50mA for 30s", startAbove: 0.5)
        _ = waiting.start(name: "cell", test: test, at: .start, .origin)
        #expect(waiting.described(name: "c", note: "d")?.name == "c")
        waiting.receive(1, through: 6, amperes: 1)
        #expect(waiting.recording?.isWaiting == false)
        #expect(waiting.recording?.name == "c" && waiting.recording?.note == "d")
    }

    /// The threshold itself counts as above it, and readings as far apart as is integrated are of one rise.
    @Test func rise_isFromTheThresholdOn_andHoldsAcrossTheLongestStep() {
        for (step, amperes, starts) in [(10_000, 0.1, true), (10_001, 0.1, false), (10_000, 0.0999, false)] {
            var machine = RecordingMachine(threshold)
            _ = machine.received(.at(0, amperes))
            let outcome = machine.received(.at(Double(step) / 1000, amperes))
            #expect((outcome.started?.started == .start) == starts, "\(step) \(amperes)")
        }
    }

    /// A setting that is the same again changes nothing; another threshold is armed anew, and none forgets a rise.
    @Test func threshold_isArmedAnew_whereItIsAnother() {
        for (value, starts) in [(0.1, false), (0.2, true)] {
            var machine = RecordingMachine(threshold)
            machine.receive(0, through: 20, amperes: 1)
            machine.stop(at: 20.5)
            var rules = threshold
            rules.threshold = value
            #expect(machine.rulesChanged(rules) == .none)
            #expect(machine.receive(21, through: 40, amperes: 1).isEmpty == !starts)
        }
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 4, amperes: 1)
        _ = machine.rulesChanged(RecordingRules())
        _ = machine.rulesChanged(threshold)
        #expect(machine.receive(5, through: 10, amperes: 1).first?.started?.started == .start + .seconds(5))
    }

    /// The current had fallen when the meter fell silent: that was the end.
    @Test func silenceAfterAFall_endsWhereItFell() throws {
        var machine = RecordingMachine(threshold)
        machine.receive(0, through: 20, amperes: 1)
        machine.receive(21, through: 23, amperes: 0)
        let ended = try #require(machine.woke(at: 84).ended)
        #expect(ended.end == .threshold && ended.until == .start + .seconds(21))
    }

    // MARK: Stretches

    @Test func stretch_countsWhatItIsTold_andSpreadsIt() throws {
        func summary(_ count: Int?) -> StretchSummary {
            var summary = StretchSummary(host: .here, meter: .bench)
            var mean = Reading()
            mean[.current] = 1
            for minute in 0..<3 {
                summary.add(
                    .start + .seconds(60 * minute), length: 60_000, means: mean, minima: mean, maxima: mean,
                    count: count)
            }
            return summary
        }
        for (count, readings) in [(nil, 3), (0, 3), (-5, 3), (1, 3), (7, 21)] as [(Int?, Int)] {
            #expect(summary(count).readings == readings)
            #expect(summary(count).recording()?.totals.readings == readings)
        }
        var hundred = StretchSummary(host: .here, meter: .bench)
        for number in 1...100 {
            var reading = Reading()
            reading[.voltage] = Double(number)
            hundred.add(.start + .seconds(number), reading)
        }
        let spread = try #require(hundred.spreads[.voltage])
        #expect([spread.p5, spread.p50, spread.p95] == [5, 50, 95])
        #expect(spread.least == 1 && spread.greatest == 100)
    }

    /// Values a 4,096th apart are told apart, and those of half that are one.
    @Test func values_areToldApart_toA4096th() {
        func quantiles(_ values: [Double]) -> [Double] {
            var spread = ValueSpread()
            for value in values { spread.add(value) }
            return spread.quantiles([0, 0.5, 1])
        }
        let (next, half) = (1 + 1.0 / 4096, 1 + 1.0 / 8192)
        let between = 1 + 1.0 / 16_384
        #expect(quantiles([1, next]) == [1, 1, next])
        #expect(quantiles([1, half]) == [between, between, between])
        #expect(quantiles([-1, -next]) == [-next, -next, -1])
        #expect(quantiles([3, 4, 5]) == [3, 4, 5])
        var spread = ValueSpread()
        spread.add(3, count: 0)
        spread.add(3, count: -1)
        #expect(spread.count == 0 && spread.least == nil)
        for value in [3.0, 4, 5] { spread.add(value) }
        #expect(spread.quantiles([-1, 2]) == [3, 5])
        #expect(spread.count == 3)
    }

    /// As many bins as there may be are exact; one more joins eight of them each.
    @Test func mostBins_areExact() {
        var spread = ValueSpread()
        var values: [Double] = []
        for power in 0..<4 {
            let unit = Double(1 << power)
            for step in 0..<4096 { values.append(unit + unit * Double(step) / 4096) }
        }
        for value in values { spread.add(value) }
        let places = [0, 1, 100, 8000, 16_383]
        let parts = places.map { Double($0 + 1) / Double(values.count) }
        #expect(spread.quantiles(parts) == places.map { values[$0] })
        spread.add(16)
        let joined = Set(spread.quantiles((1...63).map { Double($0) / Double(values.count + 1) }))
        #expect(joined.count == 8, "\(joined.count)")
    }

    // MARK: What a meter told

    @Test func told_isBounded() {
        var told = TelemetryBody()
        for number in 0..<70 { told.details["k\(1000 + number)"] = .number(Double(number)) }
        told.groups = [.init(index: 1, charge_mAh: 2, energy_Wh: 3)]
        #expect(TelemetryBody(text: told.text).details.count == 64 && TelemetryBody(text: told.text).groups.isEmpty)
        let long = (0..<70).map { "k\($0)=f:1" }.joined(separator: " ")
        #expect(TelemetryBody(text: long).details.count == 64)
        for (length, kept) in [(199, 199), (200, 200), (201, 200)] {
            var body = TelemetryBody()
            body.details["a"] = .text(String(repeating: "x", count: length))
            #expect(TelemetryBody(text: body.text).details["a"] == .text(String(repeating: "x", count: kept)))
        }
        for text in ["group=1:inf:2", "group=1:2:nan", "group=1:2:3:4", "group=x:2:3", "a=n:inf", "a=f"] {
            #expect(
                TelemetryBody(text: text).groups.isEmpty && TelemetryBody(text: text).details["a"] == nil, "\(text)")
        }
        #expect(
            TelemetryBody(text: "a=f:0 b=f:1 c=f:2 group=u: d=t:x=y").details
                == ["a": .flag(false), "b": .flag(true), "c": .flag(false), "group": .unknown, "d": .text("x=y")])
    }

    // MARK: Loads

    @Test func load_mayDraw_inTheThreePhasesAfterItIsOn() {
        let plan = LoadPlan(current: 1500, cutoff: 3000)
        for phase in LoadDrive.Phase.allCases {
            let drive = LoadDrive(plan, resuming: phase)
            // One that was not switched on for sure is switched off all the same.
            #expect(drive.mayDraw == (phase != .over), "\(phase)")
        }
        #expect(!LoadDrive(plan).mayDraw)
        #expect(LoadDrive(plan).phase == .preparing && plan.minutes == 0)
    }

    /// A test that ends before anything was sent switches off at once; what follows is no order any more.
    @Test func testThatEndsBeforeItBegan_isSwitchedOff() {
        var drive = LoadDrive(LoadPlan(current: 1500, cutoff: 3000))
        #expect(drive.testEnded(isLinked: true) == .order(MeterCommand(.loadOff)))
        #expect(drive.begin() == .none)
        #expect(drive.done(MeterCommand(.loadCurrent, 1500)) == .order(MeterCommand(.loadOff)))
        #expect(drive.done(MeterCommand(.loadOff)) == .none)
        #expect(drive.phase == .over)
    }

    /// A count of looks belongs to one time of drawing, also after a restart.
    @Test func looksAtALoadThatIsOff_areCountedFromTheFirst_afterARestartToo() {
        let plan = LoadPlan(current: 1500, cutoff: 3000)
        let off = LoadView(isOn: false)
        var drive = LoadDrive(plan, resuming: .drawing)
        for _ in 1..<15 { #expect(drive.looked(at: off) == .none) }
        #expect(drive.looked(at: off) == .endTest(.cutoff))
    }

    @Test func view_readsNumbersThatALoadCanHave() {
        for (value, milliamperes) in [(999_999.0, 999_999_000), (1_000_000, nil), (-1, -1000), (-1e6, nil)]
            as [(Double, Int?)]
        {
            var told = TelemetryBody()
            told.details = ["load_on": .flag(false), "set_current_A": .number(value)]
            #expect(LoadView(told) == LoadView(isOn: false, current: milliamperes))
        }
    }
}
