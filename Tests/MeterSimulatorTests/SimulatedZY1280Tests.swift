import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedZY1280Tests {
    private func readings(_ written: [[UInt8]]) -> [Reading] {
        var decoder = ZY1280Decoder()
        decoder.append(written.flatMap { $0 })
        var readings: [Reading] = []
        while let step = decoder.next() {
            if case .frame(let frame) = step { frame.forEachReading { readings.append($0) } }
        }
        return readings
    }

    @Test func reports_comeFourTimesASecond() {
        var meter = SimulatedZY1280()
        #expect(meter.nextDue == .milliseconds(250))
        #expect(meter.due(at: .milliseconds(249)).isEmpty)
        #expect(meter.due(at: .milliseconds(250)).count == 1)
        #expect(meter.due(at: .milliseconds(1250)).map(\.count) == [28, 28, 28, 28])
        #expect(meter.receive([1, 2, 3], at: .seconds(2)).isEmpty)
    }

    @Test func values_areItsLoads_andItCounts() throws {
        let load = ElectricalLoad()
        var meter = SimulatedZY1280(load: load)
        let reading = try #require(readings(meter.due(at: .seconds(36))).last)
        let state = load.state(step: 144, length: 0.25)
        #expect(abs(try #require(reading[.voltage]) - state.voltage) <= 0.0001)
        #expect(abs(try #require(reading[.current]) - state.current) <= 0.0001)
        #expect(abs(try #require(reading[.charge]) - 15) < 0.5)
        #expect(abs(try #require(reading[.energy]) - 0.075) < 0.005)
        #expect(reading[.duration] == 36)
    }

    /// Its time moves only while something flows.
    @Test func time_standsStill_whileNothingFlows() throws {
        var load = ElectricalLoad()
        load.discharge = 5
        var meter = SimulatedZY1280(load: load)
        let before = try #require(readings(meter.due(at: .seconds(20))).last)
        let after = try #require(readings(meter.due(at: .seconds(25))).last)
        #expect(before[.current] == 0)
        #expect(before[.duration] == after[.duration])
        #expect(try #require(after[.duration]) < 6)
    }

    @Test func powerCycle_keepsWhatItHasCounted() throws {
        var meter = SimulatedZY1280()
        let before = try #require(readings(meter.due(at: .seconds(36))).last)
        meter.powerCycle()
        let after = try #require(readings(meter.due(at: .milliseconds(250))).last)
        #expect(try #require(after[.charge]) >= (try #require(before[.charge])))
    }

    @Test func longPause_isNotSentInOneGo() {
        var meter = SimulatedZY1280()
        #expect(meter.due(at: .seconds(3600)).count == 40)
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_spoilsItsReport_andNoOther(kind: SimulatorFaults.Kind) {
        var meter = SimulatedZY1280()
        meter.faults = SimulatorFaults(kind, every: 4)
        #expect(readings(meter.due(at: .seconds(5))).count == (kind == .shifted ? 20 : 15))
    }
}
