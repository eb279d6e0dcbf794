package import Domain
import MeterCodec

package struct SmartPlugSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .smartPlug }

    /// Simulates the driver's input: lines of JSON. `SimulatedSmartPlug` turns them into a device's messages.
    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        // Usual load: a lamp at mains voltage.
        let usual = ElectricalLoad(supply: 231, startCurrent: 0.26, halfLife: 86_400, seed: options.seed)
        return SimulatedBoard(
            model: model, SmartPlugFamily.lines(of: model), load: options.load(usual: usual),
            period: options.refresh ?? .seconds(1))
    }
}
