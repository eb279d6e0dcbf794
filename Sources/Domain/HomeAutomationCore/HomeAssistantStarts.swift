/// Home Assistant's starts: it then knows nothing, and everything is published again. Its message may come so often that
/// this would crowd out everything else, so it counts once in a while, and the last one is not forgotten.
struct HomeAssistantStarts: Sendable {
    private let interval: Duration
    private var lastServed: MonotonicTime?
    /// It has started, but it was too soon to publish everything again.
    private(set) var isOwed = false

    init(interval: Duration) { self.interval = interval }

    /// It has started, or the time may have come for what is owed.
    ///
    /// - Returns: whether to publish everything now.
    mutating func serve(at now: MonotonicTime) -> Bool {
        if let lastServed, now - lastServed < interval {
            isOwed = true
            return false
        }
        lastServed = now
        isOwed = false
        return true
    }
}
