/// The state of the event stream, as far as the session knows.
package enum SyncStream: Hashable, Sendable {
    case closed
    case opening(since: MonotonicTime)
    case open(since: MonotonicTime, lastHeard: MonotonicTime)
    /// Broken; opened again at `retryAt`.
    case waiting(retryAt: MonotonicTime)
}

/// Tracks the event stream: opening it, hearing from it, losing it.
struct EventStream: Hashable, Sendable {
    private(set) var state = SyncStream.closed
    /// When the stream last reported another host's change.
    private(set) var lastPush: MonotonicTime?
    /// Attempts in a row that did not last.
    private var failures = 0

    mutating func open(at now: MonotonicTime) -> [SyncEffect] {
        state = .opening(since: now)
        return [.openEvents]
    }

    mutating func close() -> [SyncEffect] {
        defer {
            state = .closed
            failures = 0
        }
        switch state {
        case .closed, .waiting: return []
        case .opening, .open: return [.closeEvents]
        }
    }

    /// - Returns: false if nobody was opening it.
    mutating func opened(at now: MonotonicTime) -> Bool {
        guard case .opening = state else { return false }
        state = .open(since: now, lastHeard: now)
        return true
    }

    mutating func heard(at now: MonotonicTime) {
        if case .open(let since, _) = state { state = .open(since: since, lastHeard: now) }
    }

    /// A change was reported.
    ///
    /// - Returns: false if the stream is not open.
    mutating func pushed(at now: MonotonicTime) -> Bool {
        guard case .open = state else { return false }
        lastPush = now
        return true
    }

    mutating func broke(_ moment: SyncMoment, _ timing: SyncTiming) {
        switch state {
        case .closed, .waiting: return
        case .opening: failures += 1
        // A stream that lasted long broke for a reason of its own, and deserves a quick attempt.
        case .open(let since, _): failures = moment.now - since >= timing.streamSilence ? 1 : failures + 1
        }
        state = .waiting(retryAt: moment.now + timing.backoff.delay(afterFailures: failures, random: moment.random))
    }

    mutating func wake(_ moment: SyncMoment, _ timing: SyncTiming) -> [SyncEffect] {
        guard let deadline = deadline(timing), moment.now >= deadline else { return [] }
        if case .waiting = state { return open(at: moment.now) }
        // Half-open: open here, with nobody at the other end.
        broke(moment, timing)
        return [.closeEvents]
    }

    /// Earlier failures may have been the network's fault.
    mutating func forgetFailures() { failures = 0 }

    /// If it is waiting to be opened again, opens it now.
    mutating func hurry(at now: MonotonicTime) -> [SyncEffect] {
        if case .waiting = state { open(at: now) } else { [] }
    }

    /// When it is opened again, or given up for dead.
    func deadline(_ timing: SyncTiming) -> MonotonicTime? {
        switch state {
        case .closed: nil
        case .opening(let since): since + timing.streamSilence
        case .open(_, let lastHeard): lastHeard + timing.streamSilence
        case .waiting(let retryAt): retryAt
        }
    }

    /// How long a run waits for it to open.
    func subscribeDeadline(_ timing: SyncTiming) -> MonotonicTime? {
        if case .opening(let since) = state { since + timing.subscribeTimeout } else { nil }
    }
}
