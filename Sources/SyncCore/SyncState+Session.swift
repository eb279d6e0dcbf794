package import MeterModel
import SettingsCore

/// Time and dice of one event.
package struct SyncMoment: Hashable, Sendable {
    package var now: MonotonicTime
    /// Any number, for back-off.
    package var dice: UInt64

    package init(now: MonotonicTime, dice: UInt64) {
        self.now = now
        self.dice = dice
    }
}

/// Beginning, ending and waking up.
extension SyncState {
    mutating func start(at now: MonotonicTime) {
        switch phase {
        case .stopped: phase = .idle
        case .running(let run) where run.ending == .stop: withRun { $0.ending = .cancel }
        case .running, .idle, .halted: return
        }
        forgetAccount()
        toldOffset = nil
        parts = []
        failures = 0
        retry = nil
        fullness = nil
        lastCheck = now
        unread = Set(RecordType.known)
        ask(.started)
    }

    mutating func stop() -> [SyncEffect] {
        again = nil
        retry = nil
        switch phase {
        case .stopped: return []
        case .idle, .halted: phase = .stopped
        case .running: withRun { $0.ending = .stop }
        }
        return closeStream()
    }

    mutating func cancel() {
        guard run != nil else { return }
        // What asked for another run so far is told that it was cancelled; what comes from now on is not.
        again = nil
        withRun { $0.ending = $0.ending ?? .cancel }
    }

    mutating func resume(because trigger: SyncTrigger) {
        guard case .halted = phase else { return }
        phase = .idle
        forgetAccount()
        retry = nil
        failures = 0
        unread = Set(RecordType.known)
        ask(trigger)
    }

    mutating func trigger(_ trigger: SyncTrigger, at now: MonotonicTime) -> [SyncEffect] {
        switch phase {
        case .stopped: return []
        case .halted:
            if trigger == .asked || trigger == .resumed { resume(because: trigger) }
            return []
        case .idle, .running: break
        }
        if trigger != .localChange { unread.formUnion(RecordType.known) }
        switch trigger {
        case .asked: retry = nil
        case .networkGained:
            failures = 0
            streamFailures = 0
            if retry?.isLimit != true { retry = nil }
        case .started, .localChange, .remoteChange, .streamOpened, .poll, .retry, .resumed: break
        }
        ask(trigger)
        guard trigger == .asked || trigger == .networkGained, case .waiting = stream else { return [] }
        return openStream(at: now)
    }

    mutating func wake(_ moment: SyncMoment) -> [SyncEffect] {
        if case .idle = phase, moment.now >= nextPoll { poll(at: moment.now) }
        if case .idle = phase, let until = putOffUntil, moment.now >= until {
            putOffUntil = nil
            ask(.retry)
        }
        return wakeStream(moment)
    }

    private mutating func poll(at now: MonotonicTime) {
        lastCheck = now
        guard !hasRemoteChange else {
            hasRemoteChange = false
            counters.pollsSkipped += 1
            return
        }
        counters.polls += 1
        unread = Set(RecordType.known)
        ask(.poll)
    }

    mutating func halt(_ halt: SyncHalt, at now: MonotonicTime) -> [SyncEffect] {
        let result = endRun(.halted(halt), at: now)
        if result == nil {
            guard case .idle = phase else { return [] }
            phase = .halted(halt)
            lastSyncError = halt.failure
        }
        again = nil
        retry = nil
        forgetAccount()
        return (result.map { [.announce($0)] } ?? []) + closeStream()
    }

    /// Ends the run with a failure and sets the time of the next.
    mutating func postpone(_ failure: SyncFailure, until time: MonotonicTime, at now: MonotonicTime) -> [SyncEffect] {
        guard let run else { return [] }
        failures = failuresAfterThis
        // Whoever failed lets the other go first next time, so that one that never works holds nothing up.
        switch run.operation?.mode {
        case .modify: turn = .fetch
        case .fetch: turn = .modify
        default: break
        }
        // The next run looks whether the cloud is still the same.
        forgetAccount()
        let result = endRun(.failed(failure), at: now)
        retry = Retry(at: time, isLimit: failure.retryAfter != nil)
        ask(.retry)
        return result.map { [.announce($0)] } ?? []
    }

    /// In a row, if the present run failed now.
    var failuresAfterThis: Int { run?.hasProgressed == true ? 1 : min(failures, Int.max - 1) + 1 }

    mutating func forgetAccount() {
        account = nil
        isZoneMissing = false
    }
}
