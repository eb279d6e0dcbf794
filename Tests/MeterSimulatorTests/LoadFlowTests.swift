import Domain
import MeterCodec
import Testing

@testable import MeterSimulator

/// What flows through a simulated meter where somebody chose it: enough to end a battery test.
struct LoadFlowTests {
    private func load(_ flow: SimulatorOptions.Flow?) -> ElectricalLoad {
        SimulatorOptions(seed: 1, refresh: nil, notificationMax: 20, flow: flow).load()
    }

    @Test func charge_fallsToHalf_inItsTime() {
        let load = load(.charge(halfLife: .seconds(10)))

        #expect((load.state(step: 10, length: 1).current - 0.75).magnitude < 0.01)
        #expect(load.state(step: 60, length: 1).current < 0.05)
        #expect(load.state(step: 60, length: 1).voltage > 5)
    }

    @Test func battery_isEmpty_afterItsTime() {
        let load = load(.discharge(.seconds(100)))
        let states = stride(from: 0, through: 120, by: 10).map { load.state(step: $0, length: 1) }

        #expect(states.prefix(10).allSatisfy { $0.current > 1.4 })
        #expect(states[0].voltage > 4.9 && states[8].voltage > 4.4)
        #expect(load.state(step: 99, length: 1).voltage < 3.2)
        #expect(states.suffix(2).allSatisfy { $0.current == 0 })
    }

    @Test func everySimulatedModel_takesIt() throws {
        for model in SimulatorCatalogue.standard.models {
            #expect(SimulatorCatalogue.standard.meter(model, flow: .discharge(.seconds(1))) != nil)
        }
        #expect(load(nil).halfLife == 1800 && load(nil).discharge == nil)
    }
}
