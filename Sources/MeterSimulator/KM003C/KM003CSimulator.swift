package import Domain
import MeterCodec

package struct KM003CSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .km003c }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedKM003C(
            model: model, load: options.load(), refresh: options.refresh ?? .milliseconds(500))
    }

    /// Offset of the request number, which answers repeat (Docs/Protocols/KM003C.md#where-a-message-ends).
    package var echoedIDOffset: Int? { 1 }
}
