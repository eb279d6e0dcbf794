package import MeterModel

/// Tells whether there is a way to the cloud, and over what.
package protocol NetworkMonitor: Sendable {
    /// Watches until the task is cancelled. `report` is called once at the beginning and with each change after that,
    /// from any thread, in order.
    func run(_ report: @escaping @Sendable (NetworkPath) -> Void) async
}
