import MeterSimulator
import Testing

struct ElectricalLoadTests {
    @Test func stepBeforeTheFirst_isTheFirst() {
        let load = ElectricalLoad()

        #expect(load.state(step: -1, length: 0.5) == load.state(step: 0, length: 0.5))
        #expect(load.state(step: .min, length: 0.5) == load.state(step: 0, length: 0.5))
        #expect(load.state(step: 100, length: -0.5).current > 1.4)
    }

    @Test(arguments: [0, -1800, Double.nan])
    func halfLifeOfNothing_leavesNoCurrent(halfLife: Double) {
        #expect(ElectricalLoad(halfLife: halfLife).state(step: 0, length: 0.5).current < 1e-9)
    }

    @Test func meterWithoutCurrent_isAsWarmAsTheRoom() {
        for ambient in [-10, 24, 45.0] {
            let state = ElectricalLoad(startCurrent: 0, ambient: ambient).state(step: 3, length: 1)
            #expect(abs(state.temperature - ambient) <= 0.3)
        }
    }

    @Test func halfLife_halvesTheCurrent_withinItsNoise() {
        let current = ElectricalLoad(startCurrent: 2, halfLife: 1800).state(step: 1800, length: 1).current
        #expect((0.98...1.02).contains(current))
    }
}

struct DurationStepsTests {
    /// A floating-point division gets the third and fourth wrong: 0.3 / 0.1 is slightly below 3.
    @Test(arguments: [
        (Duration.zero, Duration.milliseconds(500), 0), (.milliseconds(499), .milliseconds(500), 0),
        (.milliseconds(300), .milliseconds(100), 3), (.milliseconds(4350), .milliseconds(10), 435),
        (.seconds(-5), .milliseconds(500), 0), (.seconds(1), .zero, 1000), (.seconds(1), .seconds(-1), 1000),
        (.seconds(Int64.max), .milliseconds(1), 9_223_372_036_854),
    ])
    func steps_areCountedInWholeNumbers(time: Duration, length: Duration, steps: Int) {
        #expect(time.wholeSteps(of: length) == steps)
    }
}

struct SimulatorFaultsTests {
    @Test(arguments: [0, -3, Int.min])
    func periodBelowOne_isEveryAnswer(period: Int) {
        let faults = SimulatorFaults(.silence, every: period)
        #expect(faults.period == 1)
        #expect(faults.apply(to: [1], number: 1, checkOffset: 0) == nil)
    }
}
