package import Domain
package import MeterCodec

package struct SimulatorCatalogue: Sendable {
    package let families: [any FamilySimulator]
    private let catalogue: MeterCatalogue

    package init(families: [any FamilySimulator], of catalogue: MeterCatalogue) {
        self.families = families
        self.catalogue = catalogue
    }

    /// All simulators. Separate from `MeterCatalogue.standard`, so that the module Gateway does not depend on
    /// simulators.
    package static let standard = SimulatorCatalogue(
        families: [
            UMSimulator(), TC66Simulator(), FNIRSISimulator(), KM003CSimulator(), AtorchSimulator(), WITRNSimulator(),
            CT3Simulator(), ZY1280Simulator(), KM001Simulator(), ACD15PSimulator(),
            FL001Simulator(), PPK2Simulator(), SmartPlugSimulator(), GenericSimulator(),
        ],
        of: .standard)

    package subscript(_ family: MeterFamily) -> (any FamilySimulator)? { families.first { $0.family == family } }

    package var models: [ModelName] { catalogue.models.filter { self[$0.family] != nil } }

    /// Maximum length of a Bluetooth LE notification in bytes before the MTU is negotiated: 23 minus the header of
    /// three bytes (Core Specification, volume 3, part F, 3.2.8 and 3.4.7.1).
    package static let defaultNotificationMax = 20

    /// - Parameters:
    ///   - transport: nil for the model's first kind of link.
    ///   - seed: distinguishes two meters of one model.
    ///   - refresh: as in `SimulatorOptions`, like the following parameters.
    /// - Returns: nil for a link that the model does not have.
    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport? = nil, seed: UInt64 = 1, refresh: Duration? = nil,
        notificationMax: Int = defaultNotificationMax, flow: SimulatorOptions.Flow? = nil,
        isBunched: Bool = false
    ) -> (any SimulatedMeter)? {
        let transports = catalogue.transports(of: model)
        guard let transport = transport ?? transports.first, transports.contains(transport) else { return nil }
        let options = SimulatorOptions(
            seed: seed, refresh: refresh, notificationMax: notificationMax, flow: flow, isBunched: isBunched)
        guard let meter = self[model.family]?.meter(model, over: transport, options) else { return nil }
        return transport == .ble ? NotifyingMeter(meter, notificationMax: notificationMax) : meter
    }
}
