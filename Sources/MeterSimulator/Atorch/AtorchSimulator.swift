import MeterCodec
package import MeterModel

package struct AtorchSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .atorch }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedAtorch(
            model: model, load: options.load(usual: SimulatedAtorch.usualLoad(of: model, seed: options.seed)),
            period: options.refresh ?? .seconds(1), seed: options.seed)
    }
}
