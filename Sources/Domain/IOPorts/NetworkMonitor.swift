/// Tells whether there is a route to the cloud, and over what.
package protocol NetworkMonitor: Sendable {
    /// Watches until the task is cancelled. `report` is called once at the beginning and then for each change, from any
    /// thread, in order.
    func run(_ report: @escaping @Sendable (NetworkPath) -> Void) async
}
