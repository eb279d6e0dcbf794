package import Domain
import MeterCodec

package struct FNIRSISimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .fnirsi }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        let load = options.load()
        return transport == .ble
            ? SimulatedFNIRSIBLE(model: model, load: load, notificationMax: options.notificationMax)
            : SimulatedFNIRSIUSB(
                model: model, load: load, packetPeriod: options.refresh ?? .milliseconds(40),
                commandGap: options.commandGap(SimulatedFNIRSIUSB.commandGap))
    }
}
