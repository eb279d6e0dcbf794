import Domain
import MeterCodec
import Testing

/// Which measurements of a meter without a check are told, and when.
struct BreakGuardTests {
    private struct Sample: Successor {
        var level: StepLevel
        func breaks(with last: Sample) -> Bool { level.isStep(from: last.level) }
        func isConfirmed(by next: Sample, after last: Sample?) -> Bool {
            last.map { level.isConfirmed(by: next.level, after: $0.level) } ?? true
        }
    }

    /// What came of a row of voltages and currents, one a second.
    private struct Outcome: Equatable {
        /// The places of those that were told, in the order in which they were.
        var told: [Int] = []
        var dropped = 0
        /// The longest time that one was held.
        var delay = 0
    }

    /// A frame that says which place it has.
    private struct Place: FrameContent {
        var place: Int
        var model: ModelName? { nil }
        func forEachReading(_ body: (Reading) -> Void) {}
    }

    private func outcome(of row: [(Double, Double)]) -> Outcome {
        var guarding = BreakGuard<Sample>()
        var outcome = Outcome()
        for (place, (voltage, current)) in row.enumerated() {
            let sample = Sample(level: StepLevel(voltage: voltage, current: current))
            guarding.take(sample, as: .other(Place(place: place))) { event in
                switch event {
                case .frame(let frame), .confirmed(let frame):
                    guard let told = (frame.content as? Place)?.place else { break }
                    outcome.told.append(told)
                    outcome.delay = max(outcome.delay, place - told)
                case .held: break
                case .filtered(let count): outcome.dropped += count
                default: Issue.record("\(event)")
                }
            }
        }
        return outcome
    }

    /// 5, 9, 12 and 5 V, as a charger and a phone agree on: each is told, two of them a second late.
    @Test(arguments: [1, 2, 5])
    func voltagesThatLast_areTold(seconds: Int) {
        let row = [5.0, 9, 12, 5, 5].flatMap { Array(repeating: ($0, 12 / $0), count: seconds) }
        let outcome = outcome(of: row)
        #expect(outcome.dropped == 0 || seconds == 1)
        #expect(outcome.told == Array(row.indices) || seconds == 1)
        #expect(outcome.delay <= 1)
    }

    /// A load that draws 0.1 A and 1 A in turns: the first 1 A is dropped at most, and then both are known.
    @Test(arguments: [1, 2, 3])
    func pulsedLoad_isTold(seconds: Int) {
        let row = (0..<60).map { (5.0, $0 / seconds % 2 == 0 ? 0.1 : 1.0) }
        let outcome = outcome(of: row)
        #expect(outcome.dropped == (seconds == 1 ? 1 : 0))
        #expect(outcome.told.count == 60 - outcome.dropped)
        #expect(outcome.told == outcome.told.sorted())
    }

    /// Each step of a ramp is confirmed by the next, up to the top, which is confirmed as it stays.
    @Test(arguments: [1.2, 1.5, 2, 3])
    func ramp_isTold(factor: Double) {
        var values = [0.1]
        while values.count < 12 { values.append(values[values.count - 1] * factor) }
        let row = (values + [values[11], values[11]]).map { (5.0, $0) }
        #expect(outcome(of: row) == Outcome(told: Array(0..<14), dropped: 0, delay: factor == 1.2 ? 1 : 1))
        let volts = (values + [values[11], values[11]]).map { ($0 + 3, 1.0) }
        #expect(outcome(of: volts).told == Array(0..<14))
    }

    /// A single one far from both neighbours is not told, and costs no other.
    @Test(arguments: [(9.0, 1.0), (5, 3), (0, 1), (5, 0), (120, 40), (3, 0.2)])
    func damage_isDropped(voltage: Double, current: Double) {
        var row = Array(repeating: (5.0, 1.0), count: 8)
        row[4] = (voltage, current)
        #expect(outcome(of: row) == Outcome(told: [0, 1, 2, 3, 5, 6, 7], dropped: 1, delay: 0))
    }

    /// What is no step, or a current that goes up by less than it was, is told; the latter a second late.
    @Test(arguments: [(5.04, 1.0, 0), (5.5, 1.0, 0), (5, 1.09, 0), (5, 1.9, 1), (5, 0.55, 1)])
    func smallChange_isTold(voltage: Double, current: Double, delay: Int) {
        var row = Array(repeating: (5.0, 1.0), count: 8)
        row[4] = (voltage, current)
        #expect(outcome(of: row) == Outcome(told: Array(0..<8), dropped: 0, delay: delay))
    }

    // MARK: Real frames

    /// Each report of real meters is told: none is refused, and none dropped.
    @Test(arguments: [
        (ModelName.atorchUSB, DamageRateTests.j7c), (.atorchDC, DamageRateTests.dl24m), (.atorchAC, DamageRateTests.s1),
        (.atorchUSB, DamageRateTests.ud18),
    ])
    func realReports_areAllTold(model: ModelName, texts: [String]) throws {
        var driver = AtorchDriver(model: model)
        _ = driver.opening()
        var told: [Double?] = []
        for text in texts {
            driver.receive(try hex(text)) { event in
                switch event {
                case .frame(let frame), .confirmed(let frame): frame.forEachReading { told.append($0[.current]) }
                case .held: break
                default: Issue.record("\(event)")
                }
            }
        }
        let expected = decodedReadings(try texts.flatMap { try hex($0) }, with: AtorchDecoder()).map { $0[.current] }
        #expect(told == expected)
    }

    /// A report that was made of a real one: the counter's energy jumps, or its time goes back, and the next contradicts it.
    @Test(arguments: [(14, UInt8(0x10)), (25, 0x20), (16, 0x80), (10, 1), (28, 1)])
    func reportThatDoesNotGoOn_isDropped(offset: Int, change: UInt8) throws {
        var reports = try DamageRateTests.j7c.prefix(8).map { try hex($0) }
        reports[4][offset] ^= change
        for (isFiltering, count) in [(true, 7), (false, 8)] {
            var driver = AtorchDriver(model: .atorchUSB)
            driver.isFiltering = isFiltering
            var (readings, filtered) = (0, 0)
            for report in reports {
                driver.receive(report) { event in
                    switch event {
                    case .frame(let frame), .confirmed(let frame): frame.forEachReading { _ in readings += 1 }
                    case .filtered(let count): filtered += count
                    default: break
                    }
                }
            }
            #expect((readings, filtered) == (count, 8 - count), "\(offset)")
        }
    }

    /// A counter that was cleared, and reports that a weak link lost for a minute.
    @Test func clearedCounterAndLostReports_areConfirmed() throws {
        var reports = try DamageRateTests.j7c.map { try hex($0) }
        for place in 4..<8 { reports[place].replaceSubrange(10..<17, with: [UInt8](repeating: 0, count: 7)) }
        for place in 8..<12 {
            reports[place].replaceSubrange(10..<17, with: [UInt8](repeating: 0, count: 7))
            reports[place][25] += 1
        }
        var driver = AtorchDriver(model: .atorchUSB)
        var readings = 0
        for report in reports {
            driver.receive(report) { event in
                switch event {
                case .frame(let frame), .confirmed(let frame): frame.forEachReading { _ in readings += 1 }
                case .held: break
                default: Issue.record("\(event)")
                }
            }
        }
        #expect(readings == 12)
    }

    /// W is voltage times current times power factor, to 6 % and 1 W (all public AC reports are).
    @Test(arguments: [(0, true), (1, true), (0x14, false), (0xF0, false)])
    func powerOfAnACMeter_agrees(tenths: UInt8, isRead: Bool) throws {
        // 229.4 V, 3.807 A, power factor 0.823: 718.7 W. Without a check byte that is right.
        var bytes = try hex("ff5501010008f6000edf001c1800000031061ab101f30337001a000000003c00000000e4")
        bytes[11] &+= tenths
        #expect(decodedReadings(bytes, with: AtorchDecoder()).count == (isRead ? 1 : 0))
    }

    // MARK: KM003C

    private func km003c(_ changes: (Double, Double)?) throws -> [UInt8] {
        var bytes = try hex(DamageRateTests.km003c[0])
        guard let changes else { return bytes }
        for (offset, value) in [(8, changes.0), (12, changes.1)] {
            let word = UInt32(bitPattern: Int32(value * 1e6))
            for place in 0..<4 { bytes[offset + place] = UInt8(truncatingIfNeeded: word >> UInt32(8 * place)) }
        }
        return bytes
    }

    /// 5.05 V and -0.066 A beside averages that say so: a jump is held, and told if the next one has it too. PD waits for nothing.
    @Test(arguments: [(9.0, -0.066, true), (9.0, -0.066, false), (5.05, -2, false), (5.05, -2, true)])
    func km003c_jump_isHeld_andConfirmedByTheNext(voltage: Double, current: Double, lasts: Bool) throws {
        var driver = KM003CDriver(model: .km003c)
        _ = driver.opening()
        var events: [String] = []
        for change in [nil, (voltage, current), lasts ? (voltage, current) : nil, nil] as [(Double, Double)?] {
            let id = driver.poll()[1]
            var bytes = try km003c(change)
            bytes[1] = id
            driver.receive(bytes) { event in
                switch event {
                case .frame(let frame):
                    frame.forEachReading { events.append("frame \($0[.voltage] ?? 0 > 8 || $0[.current] ?? 0 < -1)") }
                case .confirmed: events.append("confirmed")
                case .held: events.append("held")
                case .filtered: events.append("filtered")
                default: events.append("\(event)")
                }
            }
        }
        // Back to what the averages say is no break.
        #expect(
            events
                == (lasts
                    ? ["frame false", "held", "confirmed", "frame true", "frame false"]
                    : ["frame false", "held", "filtered", "frame false", "frame false"]))
    }

    @Test func km003c_partThatIsNoMeasurement_isToldAtOnce() throws {
        // okhsunrog/km003c-rs, adc and PD status in one answer; the voltage is put to 9 V beside an average of 4 mV.
        var bytes = try hex(
            "412082030180000bc1100000160000009a10000010000000fe1000006e000000dd0f837ed8041b0310038b7e008078004d004c00"
                + "1000000376e8120003000000a50c7b00")
        var driver = KM003CDriver(model: .km003c)
        _ = driver.opening()
        var told: [String] = []
        for volts in [0, 9] as [UInt8] {
            bytes[1] = driver.poll()[1]
            bytes.replaceSubrange(8..<12, with: volts == 0 ? [0xC1, 0x10, 0, 0] : [0x40, 0x54, 0x89, 0])
            driver.receive(bytes) { event in
                switch event {
                case .frame(let frame):
                    var readings = 0
                    frame.forEachReading { _ in readings += 1 }
                    told.append("\(readings) \(frame.powerDelivery != nil)")
                case .held: told.append("held")
                default: told.append("\(event)")
                }
            }
        }
        #expect(told == ["1 true", "0 true", "held"])
    }
}
