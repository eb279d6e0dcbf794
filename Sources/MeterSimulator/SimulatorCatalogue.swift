package import Domain
package import MeterCodec

package struct SimulatorCatalogue: Sendable {
    package let families: [any FamilySimulator]
    private let catalogue: MeterCatalogue

    package init(families: [any FamilySimulator], of catalogue: MeterCatalogue) {
        self.families = families
        self.catalogue = catalogue
    }

    /// All simulators. Separate from `MeterCatalogue.standard`, so that the gateway's services are not linked to
    /// simulators.
    package static let standard = SimulatorCatalogue(
        families: [
            UMSimulator(), TC66Simulator(), FNIRSISimulator(), KM003CSimulator(), AtorchSimulator(), WITRNSimulator(),
            CT3Simulator(), ZY1280Simulator(), KM001Simulator(), ACD15PSimulator(), GenericSimulator(),
        ],
        of: .standard)

    package subscript(_ family: MeterFamily) -> (any FamilySimulator)? { families.first { $0.family == family } }

    package var models: [ModelName] { catalogue.models.filter { self[$0.family] != nil } }

    /// Longest Bluetooth LE notification before a larger MTU is negotiated: an MTU of 23 minus the header of three
    /// bytes (Core Specification, volume 3, part F, 3.2.8 and 3.4.7.1).
    package static let defaultNotificationMax = 20

    /// - Parameters:
    ///   - transport: nil for the model's first kind of link.
    ///   - seed: distinguishes two meters of one model.
    ///   - refresh: interval of updates; nil for the model's own interval.
    ///   - flow: nil for the model's usual flow.
    ///   - isBunched: as in `SimulatorOptions`.
    ///   - notificationMax: as in `SimulatorOptions`.
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
