import MeterModel
import RecordingCore
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

    @Test func sums_inAReading_areAsFineAsAnybodyReadsThem() {
        var reading = Reading()
        EnergyCount(energy_Wh: 1.234_56, charge_mAh: -0.006).put(into: &reading)

        #expect(reading[.countedEnergy] == 1.2346)
        #expect(reading[.countedCharge] == -0.01)
    }

    @Test func counts_ofTwoIDs_areOne_sinceTheEarlier() {
        let (early, late) = (WallTime.start, WallTime.start + .seconds(5))
        let one = EnergyCount(energy_Wh: 1, charge_mAh: 20, seconds: 300, since: late)
        let other = EnergyCount(energy_Wh: 0.5, charge_mAh: 7, seconds: 60, since: early)
        #expect(one + other == EnergyCount(energy_Wh: 1.5, charge_mAh: 27, seconds: 360, since: early))
        #expect(other + one == one + other)
        #expect((one + EnergyCount()).since == late)
        #expect(EnergyCount() == EnergyCount(energy_Wh: 0, charge_mAh: 0, seconds: 0, since: nil))
        #expect(EnergyCount(seconds: -1).seconds == 0)
    }
}
