package enum SyncStream: Hashable, Sendable {
    case closed
    case opening(since: MonotonicTime)
    case open(since: MonotonicTime, lastHeard: MonotonicTime)
    case waiting(retryAt: MonotonicTime)
}

struct EventStream: Hashable, Sendable {
    private(set) var state = SyncStream.closed
    /// Time of the last reported change by another host.
    private(set) var lastPush: MonotonicTime?
    /// Number of consecutive attempts that failed or broke early.
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

    mutating func opened(at now: MonotonicTime) -> Bool {
        guard case .opening = state else { return false }
        state = .open(since: now, lastHeard: now)
        return true
    }

    mutating func heard(at now: MonotonicTime) {
        if case .open(let since, _) = state { state = .open(since: since, lastHeard: now) }
    }

    mutating func pushed(at now: MonotonicTime) -> Bool {
        guard case .open = state else { return false }
        lastPush = now
        return true
    }

    mutating func broke(_ moment: SyncMoment, _ timing: SyncTiming) {
        switch state {
        case .closed, .waiting: return
        case .opening: failures += 1
        // A stream that was open for long broke for a new reason, so the first retry is quick.
        case .open(let since, _): failures = moment.now - since >= timing.streamSilence ? 1 : failures + 1
        }
        state = .waiting(retryAt: moment.now + timing.backoff.delay(afterFailures: failures, random: moment.random))
    }

    mutating func wake(_ moment: SyncMoment, _ timing: SyncTiming) -> [SyncEffect] {
        guard let deadline = deadline(timing), moment.now >= deadline else { return [] }
        if case .waiting = state { return open(at: moment.now) }
        // Neither data nor an error arrived in time: the connection is half-open.
        broke(moment, timing)
        return [.closeEvents]
    }

    mutating func forgetFailures() { failures = 0 }

    mutating func hurry(at now: MonotonicTime) -> [SyncEffect] {
        if case .waiting = state { open(at: now) } else { [] }
    }

    /// Time to reopen the stream or give it up; nil if it is closed.
    func deadline(_ timing: SyncTiming) -> MonotonicTime? {
        switch state {
        case .closed: nil
        case .opening(let since): since + timing.streamSilence
        case .open(_, let lastHeard): lastHeard + timing.streamSilence
        case .waiting(let retryAt): retryAt
        }
    }

    /// Time until which a sync run waits for the stream to open; nil if the stream is not opening.
    func subscribeDeadline(_ timing: SyncTiming) -> MonotonicTime? {
        if case .opening(let since) = state { since + timing.subscribeTimeout } else { nil }
    }
}
