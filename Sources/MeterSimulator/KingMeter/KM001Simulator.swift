package import Domain
import MeterCodec

package struct KM001Simulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .km001 }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedKM001(model: model, dialect: .km001Pro, load: options.load(), interval: options.refresh)
    }
}

package struct ACD15PSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .acd15p }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedKM001(model: model, dialect: .acd15p, load: options.load(), interval: options.refresh)
    }
}
