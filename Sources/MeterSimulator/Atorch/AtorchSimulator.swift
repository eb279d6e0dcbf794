import MeterCodec
package import MeterModel

package struct AtorchSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .atorch }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        let load = SimulatedAtorch.usualLoad(AtorchReportType(model: model) ?? .usb, seed: options.seed)
        return SimulatedAtorch(model: model, load: options.fitted(load), period: options.refresh ?? .seconds(1))
    }
}
