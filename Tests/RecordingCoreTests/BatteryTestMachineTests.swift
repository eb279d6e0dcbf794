import Domain
import Testing

struct BatteryTestMachineTests {
    private let rules = RecordingRules(hold: .seconds(5), gapMax: .seconds(600))

    private func test(
        _ until: String = "current < 50mA for 30s", startAbove: Double? = nil, notify: [String] = ["phone"]
    ) throws -> BatteryTest {
        try BatteryTest(until: until, startAbove: startAbove, notify: notify)
    }

    private func begin(_ test: BatteryTest, _ machine: inout RecordingMachine) {
        _ = machine.start(name: "cell", test: test, at: .start, .origin)
    }

    /// A reading a second.
    private func feed(
        _ range: ClosedRange<Int>, _ amperes: Double, volts: Double = 4, to machine: inout RecordingMachine
    ) -> [RecordingMachine.Outcome] {
        range.map { machine.received(.at(Double($0), amperes, volts: volts)) }.filter { $0 != .none }
    }

    // MARK: - A load

    private func driving(_ phase: LoadDrive.Phase, _ loss: LoadPlan.OnLinkLoss = .keep) throws -> RecordingMachine {
        var machine = RecordingMachine(rules)
        let plan = LoadPlan(current: 1000, cutoff: 3000, onLinkLoss: loss)
        begin(try BatteryTest(until: "current < 500mA for 10s", load: plan), &machine)
        _ = feed(1...10, 1, to: &machine)
        let id = try #require(machine.recording?.id)
        _ = machine.drove(id, phase, problem: nil)
        return machine
    }

    @Test func silence_endsNoTest_whoseLoadGoesOnByItself() throws {
        for (phase, loss, outlasts) in [
            (LoadDrive.Phase.drawing, LoadPlan.OnLinkLoss.keep, true), (.away, .keep, true), (.preparing, .keep, false),
            (.ending, .keep, false), (.over, .keep, false), (.drawing, .off, false), (.away, .off, false),
        ] {
            var machine = try driving(phase, loss)
            let outcome = machine.woke(at: .start + .seconds(700), .origin + .seconds(700))
            #expect((outcome.ended == nil) == outlasts, "\(phase) \(loss)")
            guard outlasts else { continue }
            // The silence is a gap, and the test goes on.
            #expect(feed(701...710, 1, to: &machine).isEmpty)
            #expect(machine.recording?.totals.gapCount == 1)
        }
    }

    @Test func standing_isKept_inTheRunningTestAlone() throws {
        var machine = try driving(.drawing)
        let id = try #require(machine.recording?.id)
        #expect(machine.drove(id, .drawing, problem: nil) == nil)
        let other = RecordingID(host: id.host, meter: id.meter, token: id.token, started: id.started + .seconds(1))
        #expect(machine.drove(other, .away, problem: nil) == nil)
        let drove = machine.drove(id, .drawing, problem: "the load is set to 2000 mA now")
        let changed = try #require(drove)
        #expect(changed.test?.load?.problem == "the load is set to 2000 mA now")
        #expect(machine.drove(id, .away, problem: nil)?.test?.load?.phase == .away)
        #expect(machine.recording?.test?.load?.problem == nil)
        // A test without a load has no standing.
        var plain = RecordingMachine(rules)
        begin(try test(), &plain)
        let plainID = try #require(plain.recording?.id)
        #expect(plain.drove(plainID, .away, problem: nil) == nil)
    }

    @Test func standing_thatChangesWhileTheCutoffHolds_isInTheResult() throws {
        var machine = try driving(.drawing)
        let id = try #require(machine.recording?.id)
        _ = feed(11...15, 0, to: &machine)
        _ = machine.drove(id, .away, problem: "p")
        let outcomes = feed(16...30, 0, to: &machine)
        let ended = try #require(outcomes.first?.ended)
        #expect(ended.test?.load?.phase == .away && ended.test?.load?.problem == "p")
    }

    @Test func loadThatEnds_endsTheTest() throws {
        var machine = try driving(.drawing)
        let id = try #require(machine.recording?.id)
        let other = RecordingID(host: id.host, meter: id.meter, token: id.token, started: id.started + .seconds(1))
        #expect(machine.loadEnded(other, .cutoff) == .none)
        _ = feed(11...15, 0, to: &machine)
        // What flowed when the current fell, which is what counts at a cut-off.
        let outcome = machine.loadEnded(id, .cutoff)
        let cutoff = try #require(outcome.ended)
        #expect(cutoff.end == .cutoff && cutoff.until == .start + .seconds(11))
        #expect(machine.recording == nil)
        #expect(machine.loadEnded(id, .cutoff) == .none)

        var lost = try driving(.away)
        _ = feed(11...15, 0, to: &lost)
        let lostID = try #require(lost.recording?.id)
        let last = lost.loadEnded(lostID, .gap)
        let gap = try #require(last.ended)
        #expect(gap.end == .gap && gap.until == .start + .seconds(15))
    }

    @Test func standing_isReadBackAsItWasWritten() throws {
        let id = RecordingID(host: .here, meter: .bench, token: 0, started: .start)
        for phase in LoadDrive.Phase.allCases {
            for loss in LoadPlan.OnLinkLoss.allCases {
                for problem in [nil, "it says load-on"] {
                    let plan = LoadPlan(current: 1500, cutoff: 3000, minutes: 480, onLinkLoss: loss)
                    var test = try BatteryTest(until: plan.until, load: plan)
                    test.load = LoadSnapshot(plan, phase: phase, problem: problem)
                    let recording = Recording(id: id, trigger: .hand, end: .load, test: test)
                    let stored = try #require(Recording(id: id, properties: recording.properties))
                    #expect(stored.test == test && stored.end == .load)
                }
            }
        }
        var newer = Recording(
            id: id, trigger: .hand,
            test: try BatteryTest(until: "current < 1A", load: LoadPlan(current: 10, cutoff: 10))
        )
        .properties
        (newer["load_phase"], newer["load_on_link_loss"]) = (.string("dancing"), .string("shrug"))
        let read = try #require(Recording(id: id, properties: newer)?.test?.load)
        #expect(read.phase == .away && read.plan.onLinkLoss == .keep)
    }

    @Test func loadThatWasNotSwitchedOn_isToldAsThat() throws {
        var machine = try driving(.preparing)
        let id = try #require(machine.recording?.id)
        let outcome = machine.loadEnded(id, .load)
        let ended = try #require(outcome.ended)
        #expect(ended.result?.message.contains("the load could not be switched on") == true)
    }

    // MARK: - What a cut-off is

    @Test(arguments: [
        "stale for 30s", "current rate < 1A/min", "state is offline", "holder changes", "voltage < 3V hysteresis 1V",
        "", "3V",
    ])
    func cutoff_isAValueAgainstALimit_orAnError(until: String) {
        #expect(throws: AlertSyntaxError.self) { try test(until) }
    }

    @Test func cutoff_withoutATime_holdsForTenSeconds() throws {
        #expect(try test("voltage < 3.0V").until.hold == .seconds(10))
        #expect(try test("voltage < 3.0V").until.text == "voltage < 3.0V for 10s")
        #expect(try test("voltage < 3.0V for 1m").until.hold == .seconds(60))
    }

    // MARK: - The cut-off

    @Test func test_endsWhenItsCutoffHolds_withWhatFlowedUntilThen() throws {
        var machine = RecordingMachine(rules)
        begin(try test(), &machine)
        #expect(feed(1...3601, 1, to: &machine).isEmpty)

        let outcomes = feed(3602...3700, 0.04, to: &machine)

        let ended = try #require(outcomes.first?.ended)
        #expect(outcomes.count == 1)
        #expect(ended.end == .cutoff)
        #expect(ended.test?.value == 0.04)
        #expect(ended.until == .start + .seconds(3602))
        // 1 A for an hour, and a second on its way down.
        #expect(((ended.totals.charge_mAh ?? 0) - 3600.52 / 3.6).magnitude < 1e-6)
        #expect(machine.recording == nil)
    }

    @Test func dip_thatIsTooShort_endsNothing() throws {
        var machine = RecordingMachine(rules)
        begin(try test(), &machine)
        _ = feed(1...10, 1, to: &machine)

        #expect(feed(11...40, 0.04, to: &machine).isEmpty)
        #expect(feed(41...41, 1, to: &machine).isEmpty)
        #expect(feed(42...71, 0.04, to: &machine).isEmpty)
        #expect(feed(72...72, 0.04, to: &machine).first?.ended?.end == .cutoff)
    }

    @Test func cutoff_countsOnceTheOtherSideWasSeen() throws {
        var machine = RecordingMachine(rules)
        begin(try test("voltage < 3.0V for 10s"), &machine)
        #expect(feed(1...100, 0, volts: 0, to: &machine).isEmpty)
        #expect(machine.recording?.test?.isArmed == false)

        #expect(feed(101...200, 1, volts: 4, to: &machine).isEmpty)
        #expect(machine.recording?.test?.isArmed == true)
        #expect(feed(201...220, 1, volts: 2.9, to: &machine).first?.ended?.test?.value == 2.9)
    }

    @Test func discharge_isOfEitherDirection() throws {
        var machine = RecordingMachine(rules)
        begin(try test("current < 50mA for 10s"), &machine)
        _ = feed(1...100, -1, to: &machine)

        let ended = feed(101...120, -0.01, to: &machine).first?.ended

        #expect(ended?.end == .cutoff)
        let result = try #require(ended?.result)
        #expect(result.charge_mAh ?? 0 > 27)
        #expect(ended?.totals.charge_mAh ?? 0 < -27)
    }

    // MARK: - Its start

    @Test func test_waitsForItsThreshold_andThenHasTheIDOfItsStart() throws {
        var machine = RecordingMachine(rules)
        begin(try test(startAbove: 0.5), &machine)
        let waiting = try #require(machine.recording)
        #expect(waiting.isWaiting && waiting.totals.readings == 0 && waiting.marks.isEmpty)
        #expect(feed(1...100, 0.1, to: &machine).isEmpty)

        let outcomes = feed(101...120, 1, to: &machine)

        guard case .begun(let begun, let waitedAs) = outcomes.first else { throw Unexpected(outcomes) }
        #expect(waitedAs == waiting.id)
        #expect(begun.started == .start + .seconds(101))
        #expect(begun.trigger == .threshold && begun.name == "cell" && !begun.isWaiting)
        #expect(begun.totals.readings == 6)
        // The meter's own threshold has no say in it.
        #expect(machine.rulesChanged(RecordingRules()) == .none)
        #expect(feed(121...160, 0.01, to: &machine).first?.ended?.end == .cutoff)
    }

    @Test func testThatWaits_isCalledOff_andWasNothing() throws {
        var machine = RecordingMachine(rules)
        begin(try test(startAbove: 0.5), &machine)

        let ended = machine.stop(at: .start + .seconds(9), .origin + .seconds(9)).ended

        #expect(ended?.isWaiting == true && ended?.result == nil)
        #expect(machine.recording == nil)
    }

    @Test func testThatWaits_keepsAnotherFromStarting() throws {
        var machine = RecordingMachine(rules)
        begin(try test(startAbove: 0.5), &machine)

        #expect(machine.start(name: nil, at: .start, .origin) == .none)
    }

    // MARK: - Gaps, silence and restarts

    @Test func lostLink_isAGap_thatTheResultNames() throws {
        var machine = RecordingMachine(rules)
        begin(try test(), &machine)
        _ = feed(1...100, 1, to: &machine)
        machine.linkLost()
        #expect(feed(400...500, 1, to: &machine).isEmpty)

        let ended = try #require(feed(501...540, 0.01, to: &machine).first?.ended)

        #expect(ended.end == .cutoff)
        #expect(ended.totals.gaps.map(\.cause) == [.link])
        #expect(ended.result?.gapTime == .seconds(300))
        #expect(ended.result?.message.contains("a gap, 5 min in all, is not in it") == true)
    }

    @Test func gapWithinTheHold_beginsItAnew() throws {
        var machine = RecordingMachine(rules)
        begin(try test(), &machine)
        _ = feed(1...10, 1, to: &machine)
        _ = feed(11...20, 0.01, to: &machine)

        #expect(feed(60...89, 0.01, to: &machine).isEmpty)
        #expect(feed(90...90, 0.01, to: &machine).first?.ended?.end == .cutoff)
    }

    @Test func meterThatIsNotHeardAnyMore_endsIt_andItSaysSo() throws {
        var machine = RecordingMachine(rules)
        begin(try test(), &machine)
        _ = feed(1...100, 1, to: &machine)
        #expect(machine.woke(at: .start + .seconds(700), .origin + .seconds(700)) == .none)

        let ended = machine.woke(at: .start + .seconds(701), .origin + .seconds(701)).ended

        #expect(ended?.end == .gap)
        #expect(ended?.until == .start + .seconds(100))
        #expect(ended?.result?.message.contains("not heard any more") == true)
    }

    @Test func personsStop_isNoResult() throws {
        var machine = RecordingMachine(rules)
        begin(try test(), &machine)
        _ = feed(1...100, 1, to: &machine)

        let ended = machine.stop(at: .start + .seconds(101), .origin + .seconds(101)).ended

        #expect(ended?.end == .hand)
        #expect(ended?.result == nil && ended?.isToBeTold == false)
    }

    @Test(arguments: [nil, 0.5])
    func test_goesOnAfterARestart(startAbove: Double?) throws {
        var machine = RecordingMachine(rules)
        begin(try test(startAbove: startAbove), &machine)
        if startAbove == nil { _ = feed(1...100, 1, to: &machine) }
        let before = try #require(machine.recording)
        let stored = try #require(Recording(id: before.id, properties: before.properties))
        #expect(stored.test == before.test)

        machine = RecordingMachine(rules)
        machine.resumed(stored)
        #expect(machine.recording?.isWaiting == (startAbove != nil))
        #expect(machine.hasRecording)
        #expect(
            machine.recording?.totals.restarts == (startAbove == nil ? 1 : 0), "one that waits has nothing to interrupt"
        )
        // The monotonic clock has begun anew.
        let offset = startAbove == nil ? 110 : 1
        var outcomes = feed(offset...offset + 20, 1, to: &machine)
        outcomes += feed(offset + 21...offset + 60, 0.01, to: &machine)

        let ended = try #require(outcomes.last?.ended)
        #expect(ended.end == .cutoff)
        #expect(ended.test?.notify == ["phone"])
        if startAbove == nil { #expect(ended.totals.gaps.map(\.cause) == [.host]) }
    }

    private struct Unexpected: Error {
        init(_ outcomes: [RecordingMachine.Outcome]) { self.outcomes = outcomes }
        var outcomes: [RecordingMachine.Outcome]
    }
}
