/// Publishes everything again when Home Assistant starts. The rate limit, which protects other messages, may delay the
/// last start message but never drops it.
struct HomeAssistantStarts: Sendable {
    private let interval: Duration
    private var lastServed: MonotonicTime?
    /// Whether a start message waits for the rate limit.
    private(set) var isOwed = false

    init(interval: Duration) { self.interval = interval }

    /// Handles a start message.
    ///
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
