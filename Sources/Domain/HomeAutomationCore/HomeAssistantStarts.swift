/// Publishes everything again when Home Assistant starts. The rate limit protects other messages; it delays the last
/// start, but never drops it.
struct HomeAssistantStarts: Sendable {
    private let interval: Duration
    private var lastServed: MonotonicTime?
    /// A start waits for the rate limit.
    private(set) var isOwed = false

    init(interval: Duration) { self.interval = interval }

    /// - Returns: whether to publish everything now; otherwise call again while owed.
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
