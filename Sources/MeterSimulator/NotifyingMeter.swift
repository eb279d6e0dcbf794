package import Domain

/// A meter behind a Bluetooth LE module, which splits bytes into notifications regardless of message boundaries
/// (Docs/Protocols/UM.md#links, Docs/Protocols/TC66.md#links and Docs/Protocols/Atorch.md#links).
package struct NotifyingMeter: SimulatedMeter {
    private var meter: any SimulatedMeter
    private let notificationMax: Int

    /// - Parameter notificationMax: maximum length of a notification in bytes, 1 or more; 20 at the default MTU.
    package init(_ meter: any SimulatedMeter, notificationMax: Int) {
        self.meter = meter
        self.notificationMax = max(1, notificationMax)
    }

    package var model: ModelName { meter.model }

    package var faults: SimulatorFaults {
        get { meter.faults }
        set { meter.faults = newValue }
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        meter.receive(bytes, at: time).flatMap { $0.pieces(notificationMax) }
    }

    package mutating func due(at time: Duration) -> [[UInt8]] {
        meter.due(at: time).flatMap { $0.pieces(notificationMax) }
    }

    package var nextDue: Duration? { meter.nextDue }

    package mutating func powerCycle() { meter.powerCycle() }
}
