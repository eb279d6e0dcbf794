import Domain
import Testing

struct LoadDriveTests {
    private let plan = LoadPlan(current: 1500, cutoff: 3000, minutes: 480)
    private let on = LoadView(isOn: true, current: 1500, cutoff: 3000)
    private let off = LoadView(isOn: false, current: 1500, cutoff: 3000)

    /// One that draws.
    private func drawing(_ plan: LoadPlan? = nil) -> LoadDrive {
        var drive = LoadDrive(plan ?? self.plan)
        var act = drive.begin()
        while case .order(let order) = act { act = drive.done(order) }
        #expect(act == .none && drive.phase == .drawing)
        return drive
    }

    // MARK: Preparing

    @Test func load_isOffWhileItIsSet_andOnLast() {
        var drive = LoadDrive(plan)
        var orders: [MeterCommand] = []
        var act = drive.begin()
        while case .order(let order) = act {
            #expect(!drive.mayDraw)
            // Looks change nothing meanwhile.
            #expect(drive.looked(at: off) == .none && drive.looked(at: nil) == .none)
            orders.append(order)
            act = drive.done(order)
        }
        #expect(
            orders == [
                MeterCommand(.loadOff), MeterCommand(.loadCutoff, 3000), MeterCommand(.loadTimer, 480),
                MeterCommand(.loadCurrent, 1500), MeterCommand(.loadOn),
            ])
        #expect(drive.phase == .drawing && drive.mayDraw && drive.problem == nil)
        #expect(drive.begin() == .none)
    }

    @Test func orderThatIsNotTaken_endsTheTest_beforeItBegan() {
        for (place, order) in plan.orders.enumerated() {
            var drive = LoadDrive(plan)
            _ = drive.begin()
            for earlier in plan.orders.prefix(place) { _ = drive.done(earlier) }
            #expect(drive.failed(order, because: "no answer") == .endTest(.load))
            #expect(drive.problem == "no answer")
            // Only of the last nobody knows whether it is on.
            #expect(drive.phase == (order.kind == .loadOn ? .ending : .over))
            let next = drive.testEnded(isLinked: true)
            #expect(next == (order.kind == .loadOn ? .order(MeterCommand(.loadOff)) : .none))
        }
    }

    @Test func answerToAnotherOrder_isNoProgress() {
        var drive = LoadDrive(plan)
        #expect(drive.begin() == .order(MeterCommand(.loadOff)))
        #expect(drive.done(MeterCommand(.loadOn)) == .none)
        #expect(drive.phase == .preparing)
    }

    @Test func testThatIsStoppedWhileItIsSet_isSwitchedOffAfterTheOrderUnderWay() {
        var drive = LoadDrive(plan)
        _ = drive.begin()
        #expect(drive.testEnded(isLinked: true) == .none)
        #expect(drive.phase == .ending)
        // It was the first: off, and so all is done.
        #expect(drive.done(MeterCommand(.loadOff)) == .none)
        #expect(drive.phase == .over)

        var late = LoadDrive(plan)
        _ = late.begin()
        for order in plan.orders.dropLast() { _ = late.done(order) }
        #expect(late.testEnded(isLinked: true) == .none)
        #expect(late.done(MeterCommand(.loadOn)) == .order(MeterCommand(.loadOff)))
        #expect(late.done(MeterCommand(.loadOff)) == .none)
        #expect(late.phase == .over)
    }

    // MARK: Drawing

    @Test func loadThatSwitchedItselfOff_endsTheTest_onceThatIsSure() {
        var drive = drawing()
        for _ in 1..<LoadDrive.looksOffMax { #expect(drive.looked(at: off) == .none) }
        // One look in between begins the count anew.
        #expect(drive.looked(at: on) == .none)
        for _ in 1..<LoadDrive.looksOffMax { #expect(drive.looked(at: off) == .none) }
        #expect(drive.looked(at: off) == .endTest(.cutoff))
        #expect(drive.phase == .over)
        #expect(drive.testEnded(isLinked: true) == .none)
    }

    @Test func knobThatIsTurned_isSaid_untilItIsTurnedBack() {
        var drive = drawing()
        _ = drive.looked(at: LoadView(isOn: true, current: 2000, cutoff: 3000))
        #expect(drive.problem == "the load is set to 2000 mA now, and not to 1500 mA")
        _ = drive.looked(at: LoadView(isOn: true, current: 1500, cutoff: 2500))
        #expect(drive.problem == "the load's cut-off is 2500 mV now, and not 3000 mV")
        _ = drive.looked(at: LoadView(isOn: true))
        #expect(drive.problem == nil)
        #expect(drive.phase == .drawing)
    }

    @Test func end_switchesItOff() {
        var drive = drawing()
        #expect(drive.testEnded(isLinked: true) == .order(MeterCommand(.loadOff)))
        #expect(drive.phase == .ending)
        // One order at a time.
        #expect(drive.testEnded(isLinked: true) == .none)
        #expect(drive.looked(at: on) == .none)
        #expect(drive.done(MeterCommand(.loadOff)) == .none)
        #expect(drive.phase == .over && drive.problem == nil)
    }

    @Test func loadThatStaysOn_isToldAgainAndAgain() {
        var drive = drawing()
        _ = drive.testEnded(isLinked: true)
        for _ in 0..<3 {
            #expect(drive.failed(MeterCommand(.loadOff), because: "it says load-on") == .none)
            #expect(drive.problem == "the load could not be switched off: it says load-on")
            #expect(drive.testEnded(isLinked: true) == .none)
            for _ in 0..<LoadDrive.retryLooks { #expect(drive.looked(at: on) == .none) }
            #expect(drive.looked(at: on) == .order(MeterCommand(.loadOff)))
        }
        _ = drive.failed(MeterCommand(.loadOff), because: "no answer")
        // Somebody did it by hand.
        #expect(drive.looked(at: off) == .none)
        #expect(drive.phase == .over)
    }

    // MARK: A lost link

    @Test func lostLink_keepsTheTest() {
        var drive = drawing()
        #expect(drive.looked(at: nil) == .none)
        #expect(drive.phase == .away && drive.mayDraw)
        #expect(drive.looked(at: nil) == .none)
        #expect(drive.looked(at: on) == .none)
        #expect(drive.phase == .drawing)
        // And once more.
        _ = drive.looked(at: nil)
        #expect(drive.phase == .away)
        _ = drive.looked(at: LoadView(isOn: true, current: 10))
        #expect(drive.phase == .drawing && drive.problem != nil)
    }

    @Test func lostLink_endsTheTest_whereThePersonSaidSo() {
        var drive = drawing(LoadPlan(current: 1500, cutoff: 3000, onLinkLoss: .off))
        #expect(drive.looked(at: nil) == .none)
        #expect(drive.looked(at: on) == .endTest(.gap))
        #expect(drive.phase == .ending)
        #expect(drive.testEnded(isLinked: true) == .order(MeterCommand(.loadOff)))
        _ = drive.done(MeterCommand(.loadOff))
        #expect(drive.phase == .over)
    }

    @Test func testThatEndsWithoutALink_isSwitchedOffWhenItIsBack() {
        var drive = drawing()
        _ = drive.looked(at: nil)
        #expect(drive.testEnded(isLinked: false) == .none)
        #expect(drive.phase == .ending)
        #expect(drive.looked(at: nil) == .none)
        #expect(drive.looked(at: on) == .order(MeterCommand(.loadOff)))
    }

    // MARK: A restart

    @Test func restart_takesUpWhatWasDrawing_andNeverSwitchesOn() {
        for phase in [LoadDrive.Phase.drawing, .away] {
            var drive = LoadDrive(plan, resuming: phase)
            #expect(drive.phase == .away)
            #expect(drive.begin() == .none)
            #expect(drive.looked(at: on) == .none)
            #expect(drive.phase == .drawing)
        }
        var prepared = LoadDrive(plan, resuming: .preparing)
        #expect(prepared.begin() == .none)
        #expect(prepared.phase == .ending && prepared.problem == "meterd ended before the load was switched on")
        #expect(prepared.looked(at: on) == .order(MeterCommand(.loadOff)))
        var ending = LoadDrive(plan, resuming: .ending, problem: "no answer")
        #expect(ending.problem == "no answer")
        #expect(ending.looked(at: on) == .order(MeterCommand(.loadOff)))
        var over = LoadDrive(plan, resuming: .over)
        #expect(over.looked(at: on) == .none && over.testEnded(isLinked: true) == .none && !over.mayDraw)
    }

    // MARK: Plans

    @Test(
        arguments: [
            ("1.5A", 1500), ("1.5a", 1500), ("1500mA", 1500), ("0.29", 290), ("0.01", 10), ("40A", 40_000),
            ("40000mA", 40_000),
            ("0", nil), ("0.005", nil), ("1.234A", nil), ("1505mA", nil), ("40.01", nil), ("-1", nil), ("1e1", nil),
            ("", nil),
            ("A", nil), ("1.5V", nil), ("1.5 A", nil), ("..", nil), ("1.50000000000000000000001", nil),
            ("1.2304A", nil), ("1.230001A", nil), ("1230.4mA", nil),
        ] as [(String, Int?)])
    func current_isReadInSteps(text: String, milliamperes: Int?) {
        let plan = try? LoadPlan(current: text, cutoff: "3V")
        #expect(plan?.current == milliamperes)
    }

    @Test(
        arguments: [
            ("3.0V", 3000), ("2800mV", 2800), ("200", 200_000), ("0.01V", 10), ("200.01", nil), ("0", nil), ("3A", nil),
            ("3.005V", nil),
        ] as [(String, Int?)])
    func cutoff_isReadInSteps(text: String, millivolts: Int?) {
        let plan = try? LoadPlan(current: "1A", cutoff: text)
        #expect(plan?.cutoff == millivolts)
    }

    @Test(
        arguments: [
            ("1m", 1), ("8h", 480), ("90m", 90), ("60s", 1), ("1092m", 1092), ("1093m", nil), ("59s", nil),
            ("90s", nil), ("0", nil),
            ("soon", nil),
        ] as [(String, Int?)])
    func limit_isWholeMinutes(text: String, minutes: Int?) {
        let plan = try? LoadPlan(current: "1A", cutoff: "3V", limit: text)
        #expect(plan?.minutes == minutes)
    }

    @Test func wrongTexts_areNamed_withWhatIsLegal() {
        let problems: [(String, String, String?, String?, String)] = [
            ("much", "3V", nil, nil, "\"much\" is not a current to draw"),
            ("1A", "low", nil, nil, "\"low\" is not a voltage at which the load stops"),
            ("1A", "3V", "long", nil, "\"long\" is not a time after which the load stops"),
            ("1A", "3V", nil, "wait", "\"wait\" does not say what becomes of the test"),
        ]
        for (current, cutoff, limit, loss, message) in problems {
            do throws(LoadPlan.Problem) {
                _ = try LoadPlan(current: current, cutoff: cutoff, limit: limit, onLinkLoss: loss)
                Issue.record("\(message) is missing")
            } catch {
                #expect(error.message == message)
                #expect(!error.next.isEmpty)
            }
        }
    }

    @Test func linkLoss_isKeptUnlessSaid() throws {
        #expect(try LoadPlan(current: "1A", cutoff: "3V").onLinkLoss == .keep)
        #expect(try LoadPlan(current: "1A", cutoff: "3V", onLinkLoss: "off").onLinkLoss == .off)
        #expect(try LoadPlan(current: "1A", cutoff: "3V").minutes == 0)
    }

    @Test func until_isHalfTheCurrent_asAnAlertReadsIt() throws {
        #expect(plan.until == "current < 750mA for 10s")
        for current in [10, 30, 1500, 40_000] {
            let test = try BatteryTest(until: LoadPlan(current: current, cutoff: 10).until)
            let (_, below) = try #require(test.until.condition.level(in: reading(Double(current / 2 - 1) / 1000)))
            let (_, above) = try #require(test.until.condition.level(in: reading(Double(current) / 1000)))
            #expect(below && !above)
        }
    }

    private func reading(_ amperes: Double) -> Reading {
        var reading = Reading()
        reading[.current] = amperes
        return reading
    }

    @Test func words_sayAllOfIt() {
        #expect(plan.words == "1.50 A down to 3.00 V, 480 min at most")
        #expect(LoadPlan(current: 40, cutoff: 12_050).words == "0.04 A down to 12.05 V")
    }

    @Test func view_isWhatALoadTells() {
        var told = TelemetryBody()
        #expect(LoadView(told) == nil && LoadView(nil) == nil)
        told.details["load_on"] = .unknown
        #expect(LoadView(told) == nil)
        told.details["load_on"] = .flag(true)
        #expect(LoadView(told) == LoadView(isOn: true))
        told.details["set_current_A"] = .number(0.29)
        told.details["cutoff_V"] = .number(3.21)
        #expect(LoadView(told) == LoadView(isOn: true, current: 290, cutoff: 3210))
        told.details["set_current_A"] = .number(1e300)
        #expect(LoadView(told)?.current == nil)
    }
}
