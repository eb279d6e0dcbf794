package import Domain
import MeterCodec

package struct UMSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .um }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedUM(
            model: model, over: transport, load: options.load(),
            refresh: options.refresh ?? .milliseconds(500), commandGap: options.commandGap(SimulatedUM.commandGap))
    }
}
