package import Domain

/// Simulates the meters of one family. Listed in `SimulatorCatalogue.standard`.
package protocol FamilySimulator: Sendable {
    var family: MeterFamily { get }
    func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter
    /// Offset of the message id that an answer repeats; nil for a family without ids.
    var echoedIDOffset: Int? { get }
}

extension FamilySimulator {
    package var echoedIDOffset: Int? { nil }
}

package struct SimulatorOptions: Hashable, Sendable {
    package var seed: UInt64
    /// Interval of updates; nil for the model's own.
    package var refresh: Duration?
    /// Longest notification over Bluetooth LE in bytes, 1 or more.
    package var notificationMax: Int
    /// The chosen flow; nil for the model's usual one.
    package var flow: Flow?
    /// Whether the link delivers commands late and in bunches, so that their distance must not matter.
    package var isBunched = false

    func commandGap(_ own: Duration) -> Duration { isBunched ? .zero : own }

    package enum Flow: Hashable, Sendable {
        /// Charges a phone, whose current halves in each such time.
        case charge(halfLife: Duration)
        /// Empties a battery in this time.
        case discharge(Duration)
    }
}

extension SimulatorOptions {
    /// - Parameter usual: the load without a chosen flow.
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
