package import Domain
import MeterCodec

package struct WITRNSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .witrn }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedWITRN(model: model, load: options.load(), period: options.refresh ?? .milliseconds(10))
    }
}
