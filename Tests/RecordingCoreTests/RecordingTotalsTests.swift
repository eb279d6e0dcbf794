import CoreTestKit
import Domain
import Testing

struct RecordingTotalsTests {
    private func recorded(_ readings: [TimedReading]) throws -> RecordingTotals {
        var machine = RecordingMachine()
        machine.start(at: 0)
        for reading in readings { _ = machine.received(reading) }
        return try #require(machine.recording).totals
    }

    @Test func ramp_isATrapezoid() throws {
        let totals = try recorded([.at(0, 0), .at(10, 1)])

        #expect(totals.charge_mAh == 5 / 3.6)
        #expect(totals.current.least == 0)
        #expect(totals.current.greatest == 1)
        #expect(totals.current.mean == 0.5)
        #expect(totals.voltage.mean == 5)
    }

    @Test func mean_isByTime_notByNumber() throws {
        let totals = try recorded([
            .at(0, 1), .at(0.1, 1), .at(0.2, 1), .at(0.3, 1), .at(10.3, 1), .at(10.3, 3), .at(20.3, 3),
        ])

        #expect(((totals.current.mean ?? 0) - (10.3 + 30) / 20.3).magnitude < 1e-9)
    }

    @Test func currentOutwards_counts_withItsSign() throws {
        #expect(try recorded([.at(0, -1), .at(3.6, -1)]).charge_mAh == -1)
    }

    @Test func oneReading_hasNoCharge_butItsValues() throws {
        let totals = try recorded([.at(0, 1.5)])

        #expect(totals.charge_mAh == nil)
        #expect(totals.current.mean == 1.5)
    }

    @Test func power_isTheMeters_whereItTellsNoVoltage() throws {
        var first = TimedReading.at(0, nil, volts: nil)
        var second = TimedReading.at(10, nil, volts: nil)
        first.reading[.power] = 36
        second.reading[.power] = 36

        #expect(try recorded([first, second]).energy_Wh == 0.1)
    }

    /// What was stored comes back, however short it was; what cannot have been stored is no integrated time.
    @Test(arguments: [0.001, 0.25, 1, 1.5, 1e9, 0, -1, .nan, .infinity], [nil, 2.0])
    func storedValue_comesBack(seconds: Double, mean: Double?) {
        let value = IntegratedValue(least: 1, greatest: 3, mean: mean, seconds: seconds)
        let isKnown = mean != nil && seconds > 0 && seconds.isFinite
        #expect(value.least == 1 && value.greatest == 3)
        #expect(value.seconds == (isKnown ? seconds : 0) && value.integral == (isKnown ? 2 * seconds : 0))
        #expect(((value.mean ?? .nan) - (isKnown ? 2 : 1)).magnitude < 1e-12)
    }

    /// The last has the same integral over another time.
    @Test func values_areEqual_whereAllOfThemIs() {
        let value = IntegratedValue(least: 1, greatest: 3, mean: 2, seconds: 4)
        #expect(value == IntegratedValue(least: 1, greatest: 3, mean: 2, seconds: 4))
        for other in [
            IntegratedValue(least: 0, greatest: 3, mean: 2, seconds: 4),
            IntegratedValue(least: 1, greatest: 4, mean: 2, seconds: 4),
            IntegratedValue(least: 1, greatest: 3, mean: 2.5, seconds: 4),
            IntegratedValue(least: 1, greatest: 3, mean: 1, seconds: 8),
        ] {
            #expect(value != other && value.hashValue != other.hashValue)
        }
    }

    /// Only another known group is another counter. What comes to be known, or is not told for a while, is the same one.
    @Test(
        arguments: [
            ([nil, nil, nil], 0), ([nil, 0, 0], 0), ([0, nil, 0], 0), ([0, 0, nil], 0), ([0, 1, 1], 1),
            ([0, nil, 1], 1),
            ([nil, 1, 2], 1), ([0, 1, 0], 2),
        ] as [([Int?], Int)])
    func step_toAnotherGroup_isAJump(groups: [Int?], jumps: Int) throws {
        let readings = groups.enumerated().map { index, group in
            var reading = TimedReading.at(Double(index), 1, charge: 10 + Double(index), energy: 20 + Double(index))
            reading.group = group
            return reading
        }
        let totals = try recorded(readings)
        #expect(totals.charge.jumps == jumps && totals.energy.jumps == jumps)
        #expect(totals.charge.total == Double(2 - jumps) && totals.energy.total == Double(2 - jumps))
    }

    /// Some meters tell current and temperature in frames of their own: the step of one kind spans those of the other.
    @Test func kindsOfFrames_doNotDisturbEachOther() throws {
        var readings: [TimedReading] = []
        for second in 0...10 {
            readings.append(.at(Double(second), 1))
            var other = TimedReading.at(Double(second) + 0.5, nil, volts: nil)
            other.reading[.temperature] = 30
            readings.append(other)
        }
        let totals = try recorded(readings)

        #expect(((totals.charge_mAh ?? 0) - 10 / 3.6).magnitude < 1e-12)
        #expect(totals.temperature.mean == 30)
        #expect(totals.readings == 22)
    }

    /// Whether readings come one by one or a link hands over many at once, stops and starts between them, or asks for the
    /// present totals as often as it likes: the totals are those of the readings and their stamps alone.
    @Test func totals_doNotDependOnHowReadingsAreBatched() throws {
        for seed in UInt64(0)..<200 {
            var rng = SeededRNG(seed: seed)
            var readings: [TimedReading] = []
            var time = 0.0
            for _ in 0..<200 {
                time += Double(rng.below(1000)) / 100
                if rng.below(30) == 0 { time += 30 }
                readings.append(.at(time, Double(rng.below(3000)) / 1000, volts: Double(rng.below(2000)) / 100))
            }
            let whole = try recorded(readings)

            var machine = RecordingMachine()
            machine.start(at: 0)
            var rest = readings[...]
            while !rest.isEmpty {
                let batch = rest.prefix(1 + rng.below(20))
                rest = rest.dropFirst(batch.count)
                for reading in batch { _ = machine.received(reading) }
                if let last = batch.last { _ = machine.woke(at: last.wallTime, last.time) }
                _ = machine.rulesChanged(RecordingRules())
            }

            #expect(machine.recording?.totals == whole, "seed \(seed)")
            // By hand: the sum over neighbours no further apart than 10 s.
            let charge = zip(readings, readings.dropFirst()).reduce(0.0) { sum, pair in
                let step = (pair.1.time - pair.0.time).seconds
                let (first, second) = (pair.0.reading[.current] ?? 0, pair.1.reading[.current] ?? 0)
                return step <= 10 ? sum + (first + second) / 2 * step : sum
            }
            #expect(((whole.charge_mAh ?? 0) - charge / 3.6).magnitude < 1e-9, "seed \(seed)")
            let ends = (readings.last?.time ?? .origin) - .origin
            #expect(((whole.duration - ends).seconds).magnitude < 10.001, "seed \(seed)")
        }
    }

    // MARK: - The meter's own counters

    @Test func counter_isKeptBeside_fromWhereItStood() throws {
        let totals = try recorded([
            .at(0, 1, charge: 1000, energy: 5), .at(5, 1, charge: 1001, energy: 5.01),
            .at(10, 1, charge: 1003, energy: 5.02),
        ])

        #expect(totals.charge.total == 3)
        #expect(((totals.energy.total ?? 0) - 0.02).magnitude < 1e-9)
        #expect(totals.charge.resets == 0)
    }

    @Test func counterThatBeganAnew_goesOn_andIsMarked() throws {
        var machine = RecordingMachine()
        machine.start(at: 0)
        for reading in [
            TimedReading.at(0, 1, charge: 500), .at(5, 1, charge: 510), .at(6, 1, charge: 0), .at(10, 1, charge: 4),
        ] { _ = machine.received(reading) }

        let recording = try #require(machine.recording)
        #expect(recording.totals.charge.total == 14)
        #expect(recording.totals.charge.resets == 1)
        #expect(recording.marks == [.counterReset])
    }

    @Test func counterThatJumped_isMarked_andTheJumpIsNotCounted() throws {
        let totals = try recorded([.at(0, 1, charge: 0), .at(1, 1, charge: 5000), .at(2, 1, charge: 5001)])

        #expect(totals.charge.total == 1)
        #expect(totals.charge.jumps == 1)
    }

    @Test func counter_countsAcrossAGap() throws {
        let totals = try recorded([.at(0, 2, charge: 0), .at(3600, 2, charge: 2000), .at(3601, 2, charge: 2001)])

        #expect(totals.charge.total == 2001)
        #expect(totals.charge.jumps == 0)
        #expect(totals.gapCount == 1)
    }

    @Test func counter_isUnknown_whereTheMeterHasNone() throws {
        #expect(try recorded([.at(0, 1), .at(1, 1)]).charge.total == nil)
    }

    /// A step exactly as long as is integrated counts; a longer one does not, and time that goes back is none.
    @Test func longestStep_isIntegrated_andNoLongerOne() {
        for (milliseconds, seconds) in [(10_000, 10.0), (10_001, 0), (-5, 0), (0, 0)] {
            var totals = RecordingTotals()
            totals.add(TimedReading.at(0, 2).reading, step: nil, rules: RecordingRules())
            totals.add(TimedReading.at(0, 4).reading, step: .milliseconds(milliseconds), rules: RecordingRules())
            #expect(totals.recorded == .milliseconds(Int(seconds * 1000)))
            #expect(totals.current.seconds == seconds)
            #expect(totals.current.integral == 3 * seconds)
            let charge: Double? = seconds > 0 ? 30 / 3.6 : nil
            let energy: Double? = seconds > 0 ? 150 / 3600 : nil
            #expect(totals.charge_mAh == charge)
            #expect(totals.energy_Wh == energy)
            #expect(totals.current.least == 2 && totals.current.greatest == 4 && totals.readings == 2)
        }
    }

    /// The last digit of a counter may fall, and it may rise as fast as any current lets it; beyond, it began anew or jumped.
    @Test(arguments: [
        (99.0, 1.0, 0.0, 0, 0), (98.999, 1, 98.999, 1, 0), (0, 1, 0, 1, 0), (100, 1, 0, 0, 0), (101, 1, 1, 0, 0),
        (100 + 100 / 3.6 + 1.999, 1, 100 / 3.6 + 1.999, 0, 0), (100 + 100 / 3.6 + 2.001, 1, 0, 0, 1),
        (100 + 200 / 3.6 + 1.999, 2, 200 / 3.6 + 1.999, 0, 0), (-50, 1, 0, 1, 0),
    ])
    func counter_mayMoveSoFar(value: Double, step: Double, total: Double, resets: Int, jumps: Int) {
        var totals = RecordingTotals()
        totals.add(TimedReading.at(0, 1, charge: 100).reading, step: nil, rules: RecordingRules())
        totals.add(
            TimedReading.at(0, 1, charge: value).reading, step: .milliseconds(Int(step * 1000)), rules: RecordingRules()
        )
        #expect(((totals.charge.total ?? -1) - total).magnitude < 1e-9)
        #expect(totals.charge.resets == resets)
        #expect(totals.charge.jumps == jumps)
        #expect(totals.charge.last == value)
        // From where it stands now, and from then on.
        totals.add(
            TimedReading.at(0, 1, charge: value + 5).reading, step: .seconds(1), rules: RecordingRules())
        #expect(((totals.charge.total ?? -1) - total - 5).magnitude < 1e-9)
    }

    /// Another group, whichever has counted more: nothing flowed, and nothing began anew.
    @Test(arguments: [(100.0, 500.0), (500, 100), (0, 3)])
    func otherGroup_isAJump_bothWays(first: Double, second: Double) {
        var machine = RecordingMachine()
        machine.start(at: 0)
        for (second, (value, group)) in [(first, 0), (second, 3), (first, 0)].enumerated() {
            var reading = TimedReading.at(Double(second), 1, charge: value)
            reading.group = group
            _ = machine.received(reading)
        }
        let totals = machine.recording?.totals
        #expect(totals?.charge.jumps == 2 && totals?.charge.resets == 0 && totals?.charge.total == 0)
        #expect(machine.recording?.marks.contains(.counterReset) == false)
    }

    /// Of the mains, volts times amperes are more than watts.
    @Test func energyOfTheMains_isThatOfItsPower() {
        var totals = RecordingTotals()
        var reading = TimedReading.at(0, 2, volts: 230).reading
        (reading[.power], reading[.powerFactor]) = (230, 0.5)
        for step in [nil, Duration.seconds(10)] { totals.add(reading, step: step, rules: RecordingRules()) }
        #expect(((totals.energy_Wh ?? 0) - 2300 / 3600).magnitude < 1e-9)
    }

    /// What was stored comes back, and nothing impossible does.
    @Test func storedValues_comeBack_withoutTheImpossible() {
        let stored = IntegratedValue(least: 1, greatest: 3, mean: 2, seconds: 10)
        #expect(stored.integral == 20 && stored.seconds == 10 && stored.mean == 2)
        for (mean, seconds) in [(nil, 10), (2, 0), (2, -1), (2, .nan), (2, .infinity)] as [(Double?, Double)] {
            let damaged = IntegratedValue(least: 1, greatest: 3, mean: mean, seconds: seconds)
            #expect(damaged.seconds == 0 && damaged.integral == 0 && damaged.mean == 1)
        }
        let others = [
            IntegratedValue(least: 0, greatest: 3, mean: 2, seconds: 10),
            IntegratedValue(least: 1, greatest: 4, mean: 2, seconds: 10),
            IntegratedValue(least: 1, greatest: 3, mean: 1, seconds: 20),
            IntegratedValue(least: 1, greatest: 3, mean: 1, seconds: 10), stored, IntegratedValue(),
        ]
        #expect(Set(others).count == others.count)
        #expect(Set(others.map(\.hashValue)).count == others.count)

        var track = RecordingTotals().charge
        track.restore(total: 5, last: 9, resets: -1, jumps: -2)
        #expect(track.total == 5 && track.last == 9 && track.resets == 0 && track.jumps == 0)
        var totals = RecordingTotals()
        let gap = RecordingGap(start: .start, length: .seconds(1), cause: .host)
        totals.restore(gaps: Array(repeating: gap, count: 101), count: 3, time: .seconds(-1))
        #expect(totals.gaps.count == 100 && totals.gapCount == 100 && totals.gapTime == .zero)
        totals.add(gap)
        #expect(totals.gaps.count == 100 && totals.gapCount == 101 && totals.gapTime == .seconds(1))
    }
}
