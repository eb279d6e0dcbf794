package import Domain
import MeterCodec

package struct CT3Simulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .ct3 }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedCT3(model: model, load: options.load(), interval: options.refresh)
    }
}
