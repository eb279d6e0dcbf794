import Domain

/// Pause in discovery during link attempts, because the kernel begins no LE link during a discovery. Several attempts
/// share one pause: the kernel makes their links one after another.
struct AttemptPause: Sendable {
    private let isShared: Bool
    private var phase = Phase.none

    private enum Phase: Hashable, Sendable {
        case none
        case resting(since: MonotonicTime)
        /// Discovery runs for a while during long attempts, to receive other meters' advertisements.
        case breathing(since: MonotonicTime)
    }

    init(isShared: Bool) { self.isShared = isShared }

    var isNeeded: Bool { phase != .none }

    var isResting: Bool {
        if case .resting = phase { true } else { false }
    }

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

    func wakeTime(_ timing: AdapterTiming) -> MonotonicTime? {
        switch phase {
        case .none: nil
        case .resting(let since): since + limit(timing)
        case .breathing(let since): since + timing.breath
        }
    }

    private func limit(_ timing: AdapterTiming) -> Duration { isShared ? timing.pauseMaxShared : timing.pauseMax }
}
