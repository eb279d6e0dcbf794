/// Handles start messages of Home Assistant, after which everything is published again. The rate limit may delay the
/// last one but never drops it.
struct HomeAssistantStarts: Sendable {
    private let interval: Duration
    private var lastServed: MonotonicTime?
    /// Whether a start message waits for the rate limit.
    private(set) var isOwed = false

    init(interval: Duration) { self.interval = interval }

    /// - Returns: whether to publish everything now. If false, call again while `isOwed`.
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
