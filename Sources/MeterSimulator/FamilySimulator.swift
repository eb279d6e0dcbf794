package import Domain

/// Simulator of one family's meters. `SimulatorCatalogue.standard` lists all.
package protocol FamilySimulator: Sendable {
    var family: MeterFamily { get }
    func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter
    /// Offset of the message id that a request and its answer share; nil for a family without ids.
    var echoedIDOffset: Int? { get }
}

extension FamilySimulator {
    package var echoedIDOffset: Int? { nil }
}

package struct SimulatorOptions: Hashable, Sendable {
    package var seed: UInt64
    /// Interval of updates; nil for the model's own interval.
    package var refresh: Duration?
    /// Maximum length of a Bluetooth LE notification in bytes, 1 or more.
    package var notificationMax: Int
    /// Charge or discharge; nil for the model's usual load.
    package var flow: Flow?
    /// Whether the link delivers commands late and in bunches, so that the simulator accepts commands without a pause
    /// in between.
    package var isBunched = false

    func commandGap(_ own: Duration) -> Duration { isBunched ? .zero : own }

    package enum Flow: Hashable, Sendable {
        case charge(halfLife: Duration)
        case discharge(Duration)
    }
}

extension SimulatorOptions {
    /// - Parameter usual: load to which `flow` is applied; nil for a default load.
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
