package import Domain

/// Simulates the meters of one family. All implementations are listed in `SimulatorCatalogue.standard`.
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
    /// Interval of updates; nil for the model's own interval.
    package var refresh: Duration?
    /// Longest notification over Bluetooth LE in bytes, 1 or more.
    package var notificationMax: Int
    /// The chosen flow; nil for the model's usual flow.
    package var flow: Flow?
    /// Whether the link delivers commands late and in bunches. The simulator then accepts commands without a gap.
    package var isBunched = false

    func commandGap(_ own: Duration) -> Duration { isBunched ? .zero : own }

    package enum Flow: Hashable, Sendable {
        /// Charges a phone, whose current halves in each `halfLife`.
        case charge(halfLife: Duration)
        /// Empties a battery within this duration.
        case discharge(Duration)
    }
}

extension SimulatorOptions {
    /// Returns the load for these options.
    ///
    /// - Parameter usual: load if no flow is chosen.
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
