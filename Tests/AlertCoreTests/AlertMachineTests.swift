import Domain
import Testing

struct AlertMachineTests {
    @Test func level_raises_onceItHasHeld() {
        var machine = AlertMachine("current < 50mA for 2s")
        #expect(machine.received(0, 0.01) == .none)
        #expect(machine.received(1, 0.01) == .none)
        #expect(machine.received(2, 0.02) == .raised(value: 0.02))
        #expect(machine.received(3, 0.01) == .none)
        #expect(machine.standing.isRaised)
        #expect(machine.standing.raisedAt == .start + .seconds(2))
        #expect(machine.standing.count == 1)
    }

    @Test func level_beginsAnew_whenItWasInterrupted() {
        var machine = AlertMachine("current < 50mA for 2s")
        #expect(machine.received(0, 0.01) == .none)
        #expect(machine.received(1, 0.06) == .none)
        #expect(machine.received(2, 0.01) == .none)
        #expect(machine.received(3, 0.01) == .none)
        #expect(machine.received(4, 0.01) == .raised(value: 0.01))
    }

    @Test func level_isOver_onceBackByTheHysteresis() {
        var machine = AlertMachine("current < 50mA hysteresis 5mA")
        #expect(machine.received(0, 0.049) == .raised(value: 0.049))
        #expect(machine.received(1, 0.054) == .none)
        #expect(machine.received(2, 0.06) == .cleared(value: 0.06))
        #expect(machine.standing.clearedAt == .start + .seconds(2))
    }

    @Test func hysteresis_isTwoDigitsOrOnePercent_byDefault() throws {
        #expect(try AlertParser.pattern("voltage > 1V").hysteresisInForce == 0.02)
        #expect(try AlertParser.pattern("voltage > 20V").hysteresisInForce == 0.2)
    }

    @Test func currentAndPower_countByTheirSize() {
        var machine = AlertMachine("current < 50mA")
        #expect(machine.received(0, -2) == .none)
        #expect(machine.received(1, -0.02) == .raised(value: 0.02))
    }

    @Test func nothing_isRaisedAgain_rightAfterItsEnd() {
        var machine = AlertMachine("voltage > 5V hysteresis 0V", quantity: .voltage)
        #expect(machine.received(0, 6) == .raised(value: 6))
        #expect(machine.received(1, 5) == .cleared(value: 5))
        #expect(machine.received(2, 6) == .none)
        #expect(machine.received(10, 6) == .none)
        #expect(machine.received(11, 6) == .raised(value: 6))
    }

    @Test func unknownValues_areNoValues() {
        var machine = AlertMachine("current < 50mA for 4s")
        #expect(machine.received(0, 0.01) == .none)
        #expect(machine.received(2, nil) == .none)
        #expect(machine.received(4, 0.01) == .raised(value: 0.01))
        #expect(machine.received(5, nil) == .none)
        #expect(machine.standing.isRaised)
    }

    @Test func silence_breaksAHoldTime_andEndsNoAlert() {
        var machine = AlertMachine("current < 50mA for 20s")
        #expect(machine.received(0, 0.01) == .none)
        // Nobody knows what was in between.
        #expect(machine.received(30, 0.01) == .none)
        #expect(machine.received(40, 0.01) == .none)
        #expect(machine.received(50, 0.01) == .raised(value: 0.01))
        #expect(machine.received(5000, 0.01) == .none)
        #expect(machine.standing.isRaised)
    }

    @Test func calendarThatSteps_changesNothing() {
        var machine = AlertMachine("current < 50mA for 2s")
        #expect(machine.received(0, 0.01, calendarOff: 0) == .none)
        #expect(machine.received(1, 0.01, calendarOff: 1e8) == .none)
        #expect(machine.received(2, 0.01, calendarOff: -1e8) == .raised(value: 0.01))
    }

    // MARK: Restarts

    @Test func restart_tellsNothingTwice_andForgetsNothing() throws {
        var first = AlertMachine("current < 50mA")
        #expect(first.received(0, 0.01) == .raised(value: 0.01))

        var second = AlertMachine(first.pattern, first.standing, at: .at(100))
        #expect(second.received(101, 0.01) == .none)
        #expect(second.received(102, 1) == .cleared(value: 1))

        var third = AlertMachine(second.pattern, second.standing, at: .at(200))
        #expect(third.received(201, 1) == .none)
        #expect(third.standing.count == 1)
    }

    @Test func restart_beginsAHoldTimeAnew() {
        var first = AlertMachine("current < 50mA for 10s")
        for second in 0..<9 { #expect(first.received(Double(second), 0.01) == .none) }

        var second = AlertMachine(first.pattern, first.standing, at: .at(9))
        for time in 9..<19 { #expect(second.received(Double(time), 0.01) == .none) }
        #expect(second.received(19, 0.01) == .raised(value: 0.01))
    }

    // MARK: Rates

    @Test func rate_isMeasuredOverItsWindow() {
        var machine = AlertMachine("temperature rate > 2°C/min", quantity: .temperature)
        for second in 0...300 { #expect(machine.received(Double(second), 20 + Double(second) / 60) == .none) }
        var raised: Int?
        for second in 301...600 {
            let value = 25 + Double(second - 300) / 20
            if machine.received(Double(second), value) != .none {
                raised = second
                break
            }
        }
        // Three a minute: once more than half of the window is of it.
        #expect((320...345).contains(raised ?? 0), "\(raised ?? 0)")
    }

    @Test func rate_isUnknown_afterAGap() {
        var machine = AlertMachine("voltage rate > 1V/s", quantity: .voltage)
        for second in 0...20 { #expect(machine.received(Double(second), 5) == .none) }
        #expect(machine.received(100, 500) == .none)
        #expect(machine.received(101, 500) == .none)
    }

    /// A gap is longer than the longest step between readings, and time never goes back.
    @Test func rate_isMeasuredOverShortSilences() {
        var machine = AlertMachine("voltage rate > 1V/s", quantity: .voltage)
        for second in stride(from: 0, through: 20, by: 2) { #expect(machine.received(Double(second), 5) == .none) }
        #expect(machine.received(22, 500) != .none)
        var back = AlertMachine("voltage rate > 1V/s", quantity: .voltage)
        for second in 0...20 { #expect(back.received(Double(second), 5) == .none) }
        #expect(back.received(10, 500) == .none)
        #expect(back.received(11, 900) == .none)
    }

    // MARK: Silence, states, holders

    @Test func stale_raises_whenNothingCame() {
        var machine = AlertMachine("stale for 5s")
        #expect(machine.woke(at: 4) == .none)
        #expect(machine.received(4.5, 1) == .none)
        #expect(machine.woke(at: 9) == .none)
        #expect(machine.woke(at: 9.5) == .raised(value: nil))
        #expect(machine.woke(at: 99) == .none)
        #expect(machine.received(100, nil) == .cleared(value: nil))
    }

    @Test func state_raises_onceItHasHeld() {
        var machine = AlertMachine("state is offline for 60s")
        #expect(machine.stateChanged(to: .offline, at: 0) == .none)
        #expect(machine.woke(at: 59) == .none)
        #expect(machine.woke(at: 60) == .raised(value: nil))
        #expect(machine.stateChanged(to: .notConnected, at: 70) == .cleared(value: nil))
    }

    @Test func negatedState_holdsThroughAllOthers() {
        var machine = AlertMachine("state is not data-available for 10s")
        #expect(machine.stateChanged(to: .offline, at: 0) == .none)
        #expect(machine.stateChanged(to: .connecting, at: 5) == .none)
        #expect(machine.stateChanged(to: .ready, at: 9) == .none)
        #expect(machine.woke(at: 10) == .raised(value: nil))
        #expect(machine.stateChanged(to: .dataAvailable, at: 11) == .cleared(value: nil))
    }

    @Test func holder_happens_whenItIsAnotherThanTheLast() {
        var machine = AlertMachine("holder changes")
        #expect(machine.holderIs("a", at: 0) == .none)
        #expect(machine.holderIs(nil, at: 1) == .none)
        #expect(machine.holderIs("a", at: 2) == .none)
        #expect(machine.holderIs("b", at: 3) == .happened)
        #expect(machine.holderIs("b", at: 4) == .none)
        #expect(!machine.standing.isRaised)
        #expect(machine.standing.count == 1)
        // Too soon; it is told once the pause is over.
        #expect(machine.holderIs("a", at: 5) == .none)
        #expect(machine.holderIs("a", at: 13) == .happened)
    }

    @Test func holder_mayChangeAgain_onceThePauseIsOver() {
        var machine = AlertMachine("holder changes")
        _ = machine.holderIs("a", at: 0)
        #expect(machine.holderIs("b", at: 20) == .happened)
        #expect(machine.holderIs("c", at: 29) == .none)
        #expect(machine.holderIs("c", at: 30) == .happened)
        #expect(machine.holderIs("d", at: 39) == .none)
        #expect(machine.holderIs("d", at: 40) == .happened)
        #expect(machine.standing.count == 3)
    }

    // MARK: The second time

    /// What it was raised for is gone when it is over: a second alert needs its whole hold time again.
    @Test func secondAlert_isAsTheFirst() {
        var state = AlertMachine("state is offline for 60s")
        var stale = AlertMachine("stale for 15s")
        for round in [0.0, 1000, 2000] {
            #expect(state.stateChanged(to: .offline, at: round) == .none)
            #expect(state.stateChanged(to: .ready, at: round + 59) == .none)
            #expect(state.stateChanged(to: .offline, at: round + 100) == .none)
            #expect(state.woke(at: round + 159) == .none)
            #expect(state.woke(at: round + 160) == .raised(value: nil))
            #expect(state.stateChanged(to: .offline, at: round + 161) == .none)
            #expect(state.woke(at: round + 170) == .none)
            #expect(state.stateChanged(to: .ready, at: round + 180) == .cleared(value: nil))
            #expect(state.standing.count == Int64(round / 1000 + 1))

            _ = stale.received(round, 1)
            #expect(stale.woke(at: round + 14) == .none)
            #expect(stale.woke(at: round + 15) == .raised(value: nil))
            #expect(stale.received(round + 16, 1) == .cleared(value: nil))
            #expect(stale.woke(at: round + 30) == .none)
            #expect(stale.woke(at: round + 31) == .raised(value: nil))
            #expect(stale.received(round + 32, 1) == .cleared(value: nil))
        }
    }

    /// A state that comes back at once is not told twice in ten seconds, and is told then.
    @Test func pause_isOfStatesToo() {
        var machine = AlertMachine("state is offline")
        var short = AlertMachine("stale for 1s")
        #expect(machine.stateChanged(to: .offline, at: 0) == .raised(value: nil))
        #expect(machine.stateChanged(to: .ready, at: 1) == .cleared(value: nil))
        #expect(machine.stateChanged(to: .offline, at: 2) == .none)
        #expect(machine.woke(at: 10) == .none)
        #expect(machine.woke(at: 11) == .raised(value: nil))

        #expect(short.woke(at: 1) == .raised(value: nil))
        #expect(short.received(2, 1) == .cleared(value: nil))
        #expect(short.woke(at: 11) == .none)
        #expect(short.woke(at: 12) == .raised(value: nil))
    }

    @Test func standing_keepsWhatRaisedIt_andWhen() {
        var machine = AlertMachine("voltage > 5V hysteresis 1V")
        #expect(machine.standing == AlertSnapshot())
        #expect(machine.received(1, 6) == .raised(value: 6))
        #expect(machine.received(2, 7) == .none)
        #expect(machine.standing.value == 6)
        #expect(machine.received(3, 4) == .cleared(value: 4))
        #expect(machine.standing.value == 6)
        #expect(machine.received(20, 8) == .raised(value: 8))
        #expect(machine.standing.value == 8)
        #expect(machine.standing.raisedAt == .start + .seconds(20))
        #expect(machine.standing.clearedAt == .start + .seconds(3))
        #expect(machine.standing.count == 2)
    }

    @Test func silence_asLongAsAllowed_breaksNoHoldTime() {
        var machine = AlertMachine("current < 50mA for 20s")
        #expect(machine.received(0, 0.01) == .none)
        #expect(machine.received(10, 0.01) == .none)
        #expect(machine.received(20, 0.01) == .raised(value: 0.01))
    }

    // MARK: Limits

    /// A limit that is reached is neither above nor below it; the quiet side begins with the hysteresis itself.
    @Test(arguments: [
        ("above", [(5.0, false), (5.001, true), (5, false), (4.001, false)], 4.0),
        ("below", [(5.0, false), (4.999, true), (5, false), (5.999, false)], 6.0),
    ])
    func limit_isNotCrossedByItself(side: String, values: [(Double, Bool)], back: Double) {
        var machine = AlertMachine("voltage \(side) 5V hysteresis 1V")
        for (second, (value, raises)) in values.enumerated() {
            #expect(machine.received(Double(second), value) == (raises ? .raised(value: value) : .none))
        }
        #expect(machine.received(9, back) == .cleared(value: back))
    }

    /// Of current and power the size counts; of the others the sign does.
    @Test func sign_countsButForCurrentAndPower() throws {
        for quantity in Quantity.allCases {
            let unit = quantity.unit
            let pattern = try AlertParser.pattern("\(quantity.alertWord) > 5\(unit) hysteresis 0\(unit)")
            var machine = AlertMachine(pattern, at: .origin)
            let isBySize = quantity == .current || quantity == .power
            #expect(quantity.isAlertedBySize == isBySize)
            #expect(machine.received(0, -6, quantity) == (isBySize ? .raised(value: 6) : .none), "\(quantity)")
        }
    }

    @Test func hysteresis_isTwiceTheLastDigit_ofEachQuantity() throws {
        let digits: [(Double, [Quantity])] = [
            (0.01, [.voltage, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage, .powerFactor, .price]),
            (0.001, [.current, .power, .energy, .countedEnergy, .ratio]),
            (1, [.charge, .countedCharge, .temperature, .duration]), (0.1, [.resistance, .frequency]),
        ]
        #expect(digits.flatMap(\.1).count == Quantity.allCases.count)
        for (digit, quantities) in digits {
            for quantity in quantities {
                #expect(quantity.alertResolution == digit)
                let unit = quantity.unit
                let least = try AlertParser.pattern(
                    "\(quantity.alertWord) > \(quantity == .price ? "0.5" : "0")\(unit)")
                #expect(least.hysteresisInForce == 2 * digit)
                let great = try AlertParser.pattern("\(quantity.alertWord) > 100000\(unit)")
                #expect(great.hysteresisInForce == 1000)
            }
        }
        #expect(try AlertParser.pattern("voltage rate > 2V/s").hysteresisInForce == 0.02)
        #expect(try AlertParser.pattern("voltage rate < -2V/s").hysteresisInForce == 0.02)
        #expect(try AlertParser.pattern("voltage rate < -2V/s hysteresis 1V").hysteresisInForce == 1)
        for text in ["stale", "state is offline", "holder changes"] {
            #expect(try AlertParser.pattern(text).hysteresisInForce == 0)
        }
    }

    /// A rate per minute or hour is that many times the change per second, over the window of its unit.
    @Test(arguments: [("s", 1, 10), ("min", 60, 60), ("h", 3600, 600)])
    func rate_isPerItsUnitOfTime(per: String, seconds: Int, window: Int) {
        for (change, raises) in [(1.99, false), (2.01, true)] {
            var machine = AlertMachine("voltage rate > 2V/\(per)")
            var outcomes: [AlertMachine.Outcome] = []
            for step in 0...128 {
                let time = Double(step * window) / 64
                outcomes.append(machine.received(time, time * change / Double(seconds)))
            }
            #expect(outcomes.firstIndex { $0 != .none } == (raises ? 32 : nil))
        }
        var falling = AlertMachine("voltage rate < -2V/\(per)")
        #expect(AlertRate(2, per: AlertRate.Per(rawValue: per) ?? .second).window == .seconds(window))
        for step in 0..<32 { _ = falling.received(Double(step * window) / 64, 0) }
        #expect(falling.received(Double(window) / 2, -Double(window) * 3 / Double(seconds)) != .none)
        #expect(falling.standing.isRaised)
    }

    @Test func onlyWhatTimeDecides_needsWaking_andOnlyAHolderIsOfAMoment() throws {
        for (text, wakes) in [
            ("voltage > 5V", false), ("voltage rate > 5V/s", false), ("stale", true), ("state is offline", true),
            ("holder changes", false),
        ] {
            #expect(AlertMachine(text).needsWaking == wakes, "\(text)")
            #expect(try AlertParser.pattern(text).condition.isMomentary == (text == "holder changes"))
        }
    }

    // MARK: Against a model

    /// Any values and gaps, with restarts in between, against a few lines that keep everything.
    @Test func anyHistory_isAsTheModelSays() throws {
        let seed = UInt64.random(in: .min ... .max)
        var rng = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let hold = Int.random(in: 0...6, using: &rng)
            let pattern = try AlertParser.pattern("voltage > 5V for \(hold)s hysteresis 1V")
            var machine = AlertMachine(pattern, at: .origin)
            var model = Model(hold: hold)
            var now = 0.0
            for step in 0..<200 {
                if Int.random(in: 0..<40, using: &rng) == 0 {
                    machine = AlertMachine(pattern, machine.standing, at: .at(now))
                    model.restart()
                }
                now += [0.5, 1, 1, 1, 1, 2, 30].randomElement(using: &rng) ?? 1
                let value = [nil, 3.9, 4, 4.5, 5, 5.1, 6, 6].randomElement(using: &rng) ?? nil
                let outcome = machine.received(now, value, .voltage)
                #expect(outcome == model.received(now, value), "seed \(seed), step \(step)")
                #expect(machine.standing.isRaised == model.isRaised, "seed \(seed), step \(step)")
            }
        }
    }

    private struct Model {
        let hold: Int
        var isRaised = false
        var seen: [(time: Double, value: Double)] = []
        var over: Double?

        init(hold: Int) { self.hold = hold }

        mutating func restart() { (seen, over) = ([], nil) }

        mutating func received(_ time: Double, _ value: Double?) -> AlertMachine.Outcome {
            guard let value else { return .none }
            if isRaised {
                guard value <= 4 else { return .none }
                (isRaised, over, seen) = (false, time, [])
                return .cleared(value: value)
            }
            seen.append((time, value))
            // The last unbroken row of values above the limit.
            var since: Double?
            for (place, one) in seen.enumerated() {
                let isLate = place > 0 && one.time - seen[place - 1].time > 10
                since = one.value > 5 ? (isLate ? one.time : since ?? one.time) : nil
            }
            guard let since, time - since >= Double(hold), over.map({ time - $0 >= 10 }) ?? true else { return .none }
            (isRaised, seen) = (true, [])
            return .raised(value: value)
        }
    }
}

extension WallTime {
    static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)
}

extension MonotonicTime {
    static func at(_ seconds: Double) -> Self { .origin + .milliseconds(Int64((seconds * 1000).rounded())) }
}

extension AlertMachine {
    init(_ text: String, quantity: Quantity = .current) {
        guard let pattern = try? AlertParser.pattern(text) else {
            Issue.record("\(text) is not a condition")
            self.init(AlertPattern(.stale), at: .origin)
            return
        }
        self.init(pattern, at: .origin)
    }

    mutating func received(
        _ seconds: Double, _ value: Double?, _ quantity: Quantity? = nil, calendarOff: Double = 0
    ) -> Outcome {
        var reading = Reading()
        reading[quantity ?? pattern.condition.quantity ?? .current] = value
        let wall = WallTime.start + .milliseconds(Int64((seconds + calendarOff) * 1000))
        return received(TimedReading(wallTime: wall, time: .at(seconds), reading: reading), gapMax: .seconds(10))
    }

    mutating func woke(at seconds: Double) -> Outcome { woke(at: .at(seconds), .start + .seconds(Int(seconds))) }

    mutating func stateChanged(to state: ConnectionState, at seconds: Double) -> Outcome {
        stateChanged(to: state, at: .at(seconds), .start + .seconds(Int(seconds)))
    }

    mutating func holderIs(_ holder: String?, at seconds: Double) -> Outcome {
        holderIs(holder, at: .at(seconds), .start + .seconds(Int(seconds)))
    }
}
