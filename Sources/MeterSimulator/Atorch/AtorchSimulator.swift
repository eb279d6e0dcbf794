package import Domain
import MeterCodec

package struct AtorchSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .atorch }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        if model == .dl24 { return load(options) }
        return SimulatedAtorch(
            model: model, load: options.load(usual: SimulatedAtorch.usualLoad(of: model, seed: options.seed)),
            period: options.refresh ?? .seconds(1), seed: options.seed)
    }

    /// Returns a load that is already on. For a discharge, its battery is empty after the requested duration at the
    /// initial 1 A. A load cannot charge.
    private func load(_ options: SimulatorOptions) -> SimulatedDL24 {
        var battery = SimulatedDL24.Battery()
        if case .discharge(let time) = options.flow {
            battery.capacity_mAh = max(0.001, Double(time.milliseconds) / 3600)
        }
        var quirks = SimulatedDL24.Quirks()
        quirks.startsOn = true
        return SimulatedDL24(
            battery: battery, period: options.refresh ?? .seconds(1), quirks: quirks, seed: options.seed)
    }
}
