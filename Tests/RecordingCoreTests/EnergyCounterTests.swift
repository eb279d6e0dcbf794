import Domain
import Testing

struct EnergyCounterTests {
    private let stepMax = Duration.seconds(10)

    private func counter(_ readings: [TimedReading], after before: EnergyCount = EnergyCount()) -> EnergyCounter {
        var counter = EnergyCounter(before)
        for reading in readings { _ = counter.add(reading, stepMax: stepMax) }
        return counter
    }

    private func isNear(_ one: Double, _ other: Double) -> Bool { (one - other).magnitude < 1e-9 }

    @Test func sums_areThoseOfARecording() {
        let readings = (0...100).map { TimedReading.at(Double($0), Double($0) / 50, volts: 5 + Double($0) / 100) }
        var totals = RecordingTotals()
        for reading in readings {
            totals.add(reading.reading, step: reading.time == .origin ? nil : .seconds(1), rules: RecordingRules())
        }

        let count = counter(readings).count

        #expect(isNear(count.energy_Wh, totals.energy_Wh ?? .nan))
        #expect(isNear(count.charge_mAh, totals.charge_mAh ?? .nan))
        #expect(count.seconds == 100)
        #expect(count.since == .start)
    }

    @Test func whatFlowsBack_isTakenOff() {
        let count = counter([.at(0, 1), .at(10, 1), .at(10, -1), .at(20, -1), .at(25, -1)]).count

        #expect(isNear(count.charge_mAh, -5 / 3.6))
        #expect(isNear(count.energy_Wh, -25 / 3600.0))
    }

    @Test func gap_isNotCounted() {
        let count = counter([.at(0, 1), .at(10, 1), .at(21, 1), .at(31, 1)]).count

        #expect(count.seconds == 20)
        #expect(isNear(count.charge_mAh, 20 / 3.6))
    }

    @Test func calendar_thatSteps_changesNothing() {
        var readings = [TimedReading.at(0, 1), .at(5, 1), .at(10, 1)]
        readings[1].wallTime = .start + .seconds(1_000_000)
        readings[2].wallTime = .start + .seconds(-1_000_000)

        let count = counter(readings).count

        #expect(isNear(count.charge_mAh, 10 / 3.6))
        #expect(count.since == .start)
    }

    @Test(arguments: [nil, Double.nan, .infinity, .greatestFiniteMagnitude])
    func valueThatIsNone_isNotCounted(value: Double?) {
        let huge = Double.greatestFiniteMagnitude
        var readings = [TimedReading.at(0, 1), .at(1, value, volts: value == huge ? huge : 5), .at(2, 1), .at(3, 1)]
        readings[1].reading[.current] = value

        let count = counter(readings).count

        #expect(count.energy_Wh.isFinite)
        #expect(isNear(count.energy_Wh, 15 / 3600.0))
    }

    @Test func count_goesOnAfterARestart_withoutTheTimeBetween() {
        let before = counter([.at(0, 1), .at(10, 1)]).count

        let count = counter([.at(15, 1), .at(25, 1)], after: before).count

        #expect(isNear(count.charge_mAh, 20 / 3.6))
        #expect(count.seconds == 20)
        #expect(count.since == .start)
    }

    @Test func count_ofAStoreThatIsDamaged_beginsAtZero() {
        let count = EnergyCounter(EnergyCount(energy_Wh: .nan, charge_mAh: .infinity, seconds: -1)).count

        #expect(count == EnergyCount())
    }

    @Test func reset_beginsAnew() {
        var counter = counter([.at(0, 1), .at(10, 1)])
        counter.reset(at: .start + .seconds(11))
        #expect(counter.count == EnergyCount(since: .start + .seconds(11)))

        for reading in [TimedReading.at(12, 1), .at(13, 1)] { _ = counter.add(reading, stepMax: stepMax) }

        #expect(isNear(counter.count.charge_mAh, 1 / 3.6))
        #expect(counter.count.since == .start + .seconds(11))
    }

    @Test func readingOfSomethingElse_isNotCounted_andIsNoGap() {
        var counter = counter([.at(0, 1)])
        var lines = TimedReading.at(5, nil, volts: nil)
        lines.reading[.cc1] = 0.4

        let ofLines = counter.add(lines, stepMax: stepMax)
        let ofCurrent = counter.add(.at(10, 1), stepMax: stepMax)

        #expect(!ofLines && ofCurrent)
        #expect(isNear(counter.count.charge_mAh, 10 / 3.6))
    }

    @Test func meterWithoutVoltage_isCountedByItsPower() {
        var readings = [TimedReading.at(0, nil, volts: nil), .at(10, nil, volts: nil)]
        for place in readings.indices { readings[place].reading[.power] = 36 }

        #expect(isNear(counter(readings).count.energy_Wh, 0.1))
    }

    /// A sum of what is not measured would be a false 0.
    @Test(
        arguments: [
            ([Quantity.current], [Quantity.countedCharge]), ([.power], [.countedEnergy]), ([.current, .power], nil),
            ([.voltage, .current], nil), ([.energy], [.countedEnergy]), ([], nil),
        ] as [([Quantity], [Quantity]?)])
    func sums_areOfWhatIsMeasured(measured: [Quantity], sums: [Quantity]?) {
        var reading = Reading()
        for quantity in measured { reading[quantity] = 1 }
        EnergyCount().put(into: &reading)

        let both: [Quantity] = [.countedEnergy, .countedCharge]
        #expect(both.filter { reading.supported.contains($0) } == sums ?? both)
    }

    @Test func sums_inAReading_areAsFineAsAnybodyReadsThem() {
        var reading = Reading()
        EnergyCount(energy_Wh: 1.234_56, charge_mAh: -0.006).put(into: &reading)

        #expect(reading[.countedEnergy] == 1.2346)
        #expect(reading[.countedCharge] == -0.01)
    }

    // MARK: - Meters with counters of their own

    /// What the meter's own counter says between two readings that are a minute apart: of what it rose by, its last digit is
    /// left out.
    @Test(
        arguments: [
            (2.0, 0, 2.5, 0, 0.49), (2, 0, 52.5, 3, 0), (2, nil, 2.5, 0, 0), (2, 0, 0.5, 0, 0), (2, 0, 2, 0, 0),
            (2, 0, 900, 0, 0), (2, nil, 2.5, nil, 0.49), (nil, 0, 2.5, 0, 0), (2, 0, nil, 0, 0),
        ] as [(Double?, Int?, Double?, Int?, Double)])
    func gap_isWhatTheGroupsOwnCounterRoseBy(before: Double?, group: Int?, after: Double?, then: Int?, gap: Double) {
        var (first, second) = (TimedReading.at(0, 0), TimedReading.at(60, 0))
        // A hundredth of a watt-hour is to its counter what a milliampere-hour is to the other.
        (first.reading[.energy], first.reading[.charge], first.group) = (before, before.map { $0 * 100 }, group)
        (second.reading[.energy], second.reading[.charge], second.group) = (after, after.map { $0 * 100 }, then)
        var counter = counter([first, second])
        #expect(isNear(counter.count.energy_Wh, gap) && isNear(counter.count.charge_mAh, gap * 100))
        // The same over a restart.
        counter = self.counter([second], after: self.counter([first]).count)
        #expect(isNear(counter.count.energy_Wh, gap) && isNear(counter.count.charge_mAh, gap * 100))
        // And without a gap it says nothing: the current does.
        second.time = .origin + .seconds(10)
        counter = self.counter([first, second])
        #expect(counter.count.energy_Wh == 0 && counter.count.charge_mAh == 0)
    }

    @Test func meterThatTellsNoPower_isCountedByItsCounters() {
        let readings = [5.0, 5, 7, 8.5].enumerated().map { step, energy in
            TimedReading.at(Double(step) * 3, nil, volts: nil, charge: energy * 10, energy: energy)
        }
        let count = counter(readings).count
        #expect(isNear(count.energy_Wh, 3.49) && isNear(count.charge_mAh, 34))
    }

    /// As a meter's own counters count, plugged in the other way round.
    @Test func totalOfAMeterWithCounters_neverFalls() {
        let count = counter([.at(0, -1, energy: 0), .at(10, -1, energy: 0)]).count
        #expect(isNear(count.energy_Wh, 50 / 3600.0))
    }

    /// The voltage of a USB meter comes in one kind of frame, its counters in another: the total is in the latter.
    @Test func sums_areInTheFramesThatHaveTheCounters() {
        var counter = EnergyCounter()
        let flow = TimedReading.at(0, 1)
        let own = TimedReading.at(1, nil, volts: nil, charge: 3, energy: 4)
        let haveSums = [flow, own, .at(2, 1), .at(120, 1)].map { counter.add($0, stepMax: stepMax) }
        #expect(haveSums == [true, true, false, true])
    }

    /// 5: another host had the meter between two grants to this one, and told totals of its own.
    @Test(arguments: [(3, false), (4, false), (5, true), (2, false)] as [(UInt64, Bool)])
    func meterFromAnotherHost_beginsAnew(token: UInt64, isAnew: Bool) {
        var counter = counter([.at(0, 1, energy: 2), .at(10, 1, energy: 2)])
        counter.leased(3, at: .start)
        counter.leased(token, at: .start + .seconds(99))
        #expect((counter.count.energy_Wh == 0) == isAnew)
        #expect(counter.count.since == (isAnew ? .start + .seconds(99) : .start))
        #expect(counter.count.token == token && (counter.count.own == nil) == isAnew)
    }

    /// Whatever happens to a meter with groups, its total never falls and is never above what flowed; and below it is only
    /// what nobody can know: a gap in which it was cleared or another group was chosen, and its counter's last digits.
    @Test(arguments: [CounterSteps.fine, .tens], [Quantity.energy, .charge])
    func total_neverFalls_andNeverExceedsWhatFlowed(steps: CounterSteps, of quantity: Quantity) {
        for seed in 1...50 as ClosedRange<UInt64> {
            var rng = SplitMix64(seed: seed)
            var meter = GroupMeter(steps: steps, quantity: quantity)
            var counter = EnergyCounter()
            var (told, least) = (0.0, 0.0)
            _ = counter.add(meter.reading(isKnown: true), stepMax: stepMax, steps: steps)
            for _ in 0..<300 {
                let before = meter.flowed
                var isGap = false
                var isUnknown = false
                switch Int.random(in: 0..<20, using: &rng) {
                case 0: meter.group = Int.random(in: 0..<3, using: &rng)
                case 1: meter.groups[meter.group] = 0
                case 2, 3:
                    isGap = true
                    meter.flow(for: Int.random(in: 11...40_000, using: &rng))
                    isUnknown = Bool.random(using: &rng)
                    if isUnknown { meter.disturb(&rng) }
                case 4:
                    let count = counter.count
                    counter = EnergyCounter(count)
                    meter.restartsClock()
                    isGap = true
                default: meter.watts = Double.random(in: 0...40, using: &rng).rounded()
                }
                // What is measured is constant over a step.
                if !isGap { _ = counter.add(meter.reading(isKnown: true), stepMax: stepMax, steps: steps) }
                meter.flow(for: Int.random(in: 0...10, using: &rng))
                _ = counter.add(
                    meter.reading(isKnown: Bool.random(using: &rng) || isGap), stepMax: stepMax, steps: steps)
                let total = quantity == .energy ? counter.count.energy_Wh : counter.count.charge_mAh
                #expect(total >= told && total <= meter.flowed + 1e-6, "seed \(seed)")
                let flowed = meter.flowed - before
                // A counter that is cleared within its first step does not show it.
                least += isUnknown ? -meter.step : isGap ? max(0, flowed - 2 * meter.step) : flowed
                #expect(total >= least - 1e-6, "seed \(seed)")
                guard total >= told, total <= meter.flowed + 1e-6, total >= least - 1e-6 else { return }
                told = total
            }
        }
    }
}

/// A meter with three groups that tells its counters rounded down, and what flowed through it.
private struct GroupMeter {
    /// The one that its counters tell.
    let quantity: Quantity
    /// Of its counters, in their unit.
    let step: Double
    var watts = 5.0
    var group = 0
    var groups = [12.3, 0, 500]
    private(set) var flowed = 0.0
    private var seconds = 0
    private var bootedAt = 0

    init(steps: CounterSteps, quantity: Quantity) {
        self.quantity = quantity
        step = quantity == .energy ? steps.energy_Wh : steps.charge_mAh
    }

    mutating func flow(for length: Int) {
        seconds += length
        let more = quantity == .energy ? watts * Double(length) / 3600 : watts / 5 * Double(length) / 3.6
        flowed += more
        groups[group] += more
    }

    mutating func restartsClock() { bootedAt = seconds }

    /// Somebody clears it or chooses another group while nobody listens.
    mutating func disturb(_ rng: inout SplitMix64) {
        if Bool.random(using: &rng) { groups[group] = 0 }
        group = Int.random(in: 0..<3, using: &rng)
    }

    func reading(isKnown: Bool) -> TimedReading {
        var reading = TimedReading.at(Double(seconds), watts / 5)
        reading.reading[quantity] = isKnown ? (groups[group] / step + 1e-9).rounded(.down) * step : nil
        reading.time = .origin + .seconds(seconds - bootedAt)
        reading.group = group
        return reading
    }
}
