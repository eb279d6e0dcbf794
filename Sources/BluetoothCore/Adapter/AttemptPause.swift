import Domain

/// The pause in discovery that attempts to make a link need.
///
/// Several attempts may run at once: the kernel makes LE links one after the other by itself. But it does not begin one
/// during a discovery, so discovery rests.
struct AttemptPause: Sendable {
    /// Whether the chip uses the same antenna for Wi-Fi, or may do so.
    private let isShared: Bool
    private var phase = Phase.none

    private enum Phase: Hashable, Sendable {
        /// No attempt is under way.
        case none
        case resting(since: MonotonicTime)
        /// Attempts have gone on for long: other meters are listened for in between.
        case breathing(since: MonotonicTime)
    }

    init(isShared: Bool) { self.isShared = isShared }

    /// Whether attempts are under way.
    var isNeeded: Bool { phase != .none }

    /// Whether discovery rests.
    var isResting: Bool {
        if case .resting = phase { true } else { false }
    }

    /// To be called after each event.
    mutating func update(hasAttempts: Bool, at now: MonotonicTime, _ timing: AdapterTiming) {
        guard hasAttempts else {
            phase = .none
            return
        }
        switch phase {
        case .none: phase = .resting(since: now)
        case .resting(let since): if now >= since + limit(timing) { phase = .breathing(since: now) }
        case .breathing(let since): if now >= since + timing.breath { phase = .resting(since: now) }
        }
    }

    /// When that changes without an event.
    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? {
        switch phase {
        case .none: nil
        case .resting(let since): since + limit(timing)
        case .breathing(let since): since + timing.breath
        }
    }

    private func limit(_ timing: AdapterTiming) -> Duration { isShared ? timing.pauseMaxShared : timing.pauseMax }
}
