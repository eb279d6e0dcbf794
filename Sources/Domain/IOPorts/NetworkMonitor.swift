package protocol NetworkMonitor: Sendable {
    /// Runs until the task is cancelled. Calls `report` once at the start and then for each change, from any thread but
    /// in order.
    func run(_ report: @escaping @Sendable (NetworkPath) -> Void) async
}
