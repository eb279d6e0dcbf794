package import MeterModel

/// Simulates the meters of one family: a value in the family's folder, listed in `SimulatorCatalogue.standard`.
package protocol FamilySimulator: Sendable {
    var family: MeterFamily { get }
    /// - Parameter transport: a transport that the model has.
    func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter
    /// The offset of the message id that an answer repeats, for a family that has one.
    var echoedIDOffset: Int? { get }
}

extension FamilySimulator {
    package var echoedIDOffset: Int? { nil }
}

package struct SimulatorOptions: Hashable, Sendable {
    /// Makes two meters of one model differ.
    package var seed: UInt64
    /// How often the values are updated; nil for the model's own rate.
    package var refresh: Duration?
    /// In which the current falls to half; nil for the usual half an hour.
    package var halfLife: Duration?
    /// The longest notification over Bluetooth LE, in bytes; 1 or more.
    package var notificationMax: Int

    package init(
        seed: UInt64 = 1, refresh: Duration? = nil, halfLife: Duration? = nil,
        notificationMax: Int = SimulatorCatalogue.defaultNotificationMax
    ) {
        self.seed = seed
        self.refresh = refresh
        self.halfLife = halfLife
        self.notificationMax = notificationMax
    }

    /// A phone at a USB port, with what these options say of it.
    package var load: ElectricalLoad { fitted(ElectricalLoad(seed: seed)) }

    package func fitted(_ load: ElectricalLoad) -> ElectricalLoad {
        guard let halfLife else { return load }
        var load = load
        load.halfLife = Double(halfLife.milliseconds) / 1000
        return load
    }
}
