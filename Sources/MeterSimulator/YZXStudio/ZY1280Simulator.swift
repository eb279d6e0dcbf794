package import Domain
import MeterCodec

package struct ZY1280Simulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .zy1280 }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedZY1280(model: model, load: options.load(), period: options.refresh ?? .milliseconds(250))
    }
}
