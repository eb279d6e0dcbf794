package import Domain
import MeterCodec

package struct TC66Simulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .tc66 }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedTC66(
            model: model, over: TC66Link(transport), load: options.load(),
            refresh: options.refresh ?? .milliseconds(100))
    }
}
