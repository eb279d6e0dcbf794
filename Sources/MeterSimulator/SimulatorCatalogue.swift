import MeterCodec
package import MeterModel

/// Which simulator plays which model over which link. A new family adds a line.
package enum SimulatorCatalogue {
    /// A notification of Bluetooth LE is no longer than this while nobody has agreed on more: an MTU of 23, less the
    /// header (Core Specification, volume 3, part F, 3.2.8 and 3.4.7.1).
    package static let defaultNotificationMax = 20

    /// - Parameters:
    ///   - transport: nil for the first kind of link that the model has.
    ///   - seed: makes two meters of one model differ.
    ///   - refresh: how often the values renew, nil for the model's own rate.
    ///   - notificationMax: the longest notification, for a meter over Bluetooth LE; bytes, 1 or more.
    /// - Returns: nil for a link that the model does not have.
    package static func meter(
        _ model: ModelName, over transport: LinkAddress.Transport? = nil, seed: UInt64 = 1, refresh: Duration? = nil,
        notificationMax: Int = defaultNotificationMax
    ) -> (any SimulatedMeter)? {
        let transports = MeterCatalogue.transports(of: model)
        guard let transport = transport ?? transports.first, transports.contains(transport) else { return nil }
        let load = ElectricalLoad(seed: seed)
        let meter: any SimulatedMeter =
            switch (model.family, transport) {
            case (.um, _):
                SimulatedUM(model: model, over: transport, load: load, refresh: refresh ?? .milliseconds(500))
            case (.tc66, _):
                SimulatedTC66(
                    model: model, over: TC66Link(transport), load: load, refresh: refresh ?? .milliseconds(100))
            case (.km003c, _):
                SimulatedKM003C(model: model, load: load, refresh: refresh ?? .milliseconds(500))
            case (.fnirsi, .ble):
                SimulatedFNIRSIBLE(model: model, load: load, notificationMax: notificationMax)
            case (.fnirsi, _):
                SimulatedFNIRSIUSB(model: model, load: load, packetPeriod: refresh ?? .milliseconds(40))
            case (.atorch, _):
                SimulatedAtorch(model: model, period: refresh ?? .seconds(1), seed: seed)
            }
        return transport == .ble ? NotifyingMeter(meter, notificationMax: notificationMax) : meter
    }
}
