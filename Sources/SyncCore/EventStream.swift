package import MeterModel

/// The event stream, as far as the session knows.
package enum SyncStream: Hashable, Sendable {
    case closed
    case opening(since: MonotonicTime)
    case open(since: MonotonicTime, lastHeard: MonotonicTime)
    /// It broke, and is opened again then.
    case waiting(retryAt: MonotonicTime)
}

/// Opening the event stream, hearing from it, losing it.
struct EventStream: Hashable, Sendable {
    private(set) var state = SyncStream.closed
    /// When another host's change was last told.
    private(set) var lastPush: MonotonicTime?
    /// Attempts in a row that did not hold.
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

    /// - Returns: false where nobody opened it.
    mutating func opened(at now: MonotonicTime) -> Bool {
        guard case .opening = state else { return false }
        state = .open(since: now, lastHeard: now)
        return true
    }

    mutating func heard(at now: MonotonicTime) {
        if case .open(let since, _) = state { state = .open(since: since, lastHeard: now) }
    }

    /// It told of a change.
    ///
    /// - Returns: false where it is not open.
    mutating func pushed(at now: MonotonicTime) -> Bool {
        guard case .open = state else { return false }
        lastPush = now
        return true
    }

    mutating func broke(_ moment: SyncMoment, _ timing: SyncTiming) {
        switch state {
        case .closed, .waiting: return
        case .opening: failures += 1
        // One that held for long breaks for a reason of its own, and is worth a quick attempt.
        case .open(let since, _): failures = moment.now - since >= timing.streamSilence ? 1 : failures + 1
        }
        state = .waiting(retryAt: moment.now + timing.backoff.delay(afterFailures: failures, random: moment.random))
    }

    mutating func wake(_ moment: SyncMoment, _ timing: SyncTiming) -> [SyncEffect] {
        guard let deadline = deadline(timing), moment.now >= deadline else { return [] }
        if case .waiting = state { return open(at: moment.now) }
        // Half a connection: it is open here and nobody is at the other end.
        broke(moment, timing)
        return [.closeEvents]
    }

    /// What failed before may have been the network's fault.
    mutating func forgetFailures() { failures = 0 }

    /// Does not wait any longer to open it again.
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

    /// How long a run waits for it.
    func subscribeDeadline(_ timing: SyncTiming) -> MonotonicTime? {
        if case .opening(let since) = state { since + timing.subscribeTimeout } else { nil }
    }
}
