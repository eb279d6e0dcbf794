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
    /// The longest notification over Bluetooth LE, in bytes; 1 or more.
    package var notificationMax: Int
}
