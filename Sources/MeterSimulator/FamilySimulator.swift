package import Domain

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
    /// What flows, where somebody chose it; nil for what is usual at the model.
    package var flow: Flow?
    /// What carries the commands delivers some of them late, and upon each other: the time between two is not judged.
    package var isBunched = false

    /// The gap that a simulator wants between two commands.
    ///
    /// - Parameter own: the meter's.
    func commandGap(_ own: Duration) -> Duration { isBunched ? .zero : own }

    /// How what is measured goes on with time.
    package enum Flow: Hashable, Sendable {
        /// A phone fills, and its current falls to half in each such time.
        case charge(halfLife: Duration)
        /// A battery is empty after that time.
        case discharge(Duration)
    }
}

extension SimulatorOptions {
    /// What flows through a meter.
    ///
    /// - Parameter usual: without a wish.
    package func load(usual: ElectricalLoad? = nil) -> ElectricalLoad {
        var load = usual ?? ElectricalLoad(seed: seed)
        switch flow {
        case .charge(let halfLife): load.halfLife = Double(halfLife.milliseconds) / 1000
        case .discharge(let time): load.discharge = Double(time.milliseconds) / 1000
        case nil: break
        }
        return load
    }
}
