extension SyncState {
    mutating func apply(_ input: SyncInput, _ moment: SyncMoment) -> [SyncEffect] {
        let now = moment.now
        switch input {
        case .started: start(at: now)
        case .stopRequested: return stop()
        case .cancelRequested: cancel()
        case .resumed: resume(because: .resumed)
        case .triggered(let trigger): return self.trigger(trigger, at: now)
        case .woke: return wake(moment)
        case .streamOpened: streamOpened(at: now)
        case .streamHeard: stream.heard(at: now)
        case .streamBroke: stream.broke(moment, timing)
        case .remoteChanged(let types, let host): remoteChanged(types, by: host, at: now)
        default: applyAnswer(input, at: now)
        }
        return []
    }

    private mutating func start(at now: MonotonicTime) {
        switch phase {
        case .stopped: phase = .idle
        case .running(let run) where run.ending == .stop: withRun { $0.ending = .cancel }
        case .running, .idle, .halted: return
        }
        account = .unknown
        clock.startOver()
        outbox.forgetParts()
        fullness = nil
        schedule.start(at: now)
    }

    private mutating func stop() -> [SyncEffect] {
        schedule.clear()
        switch phase {
        case .stopped: return []
        case .idle, .halted: phase = .stopped
        case .running: withRun { $0.ending = .stop }
        }
        return stream.close()
    }

    private mutating func cancel() {
        guard run != nil else { return }
        schedule.forgetWhoAsked()
        withRun { $0.ending = $0.ending ?? .cancel }
    }

    private mutating func resume(because trigger: SyncTrigger) {
        guard case .halted = phase else { return }
        phase = .idle
        schedule.startOver(because: trigger)
    }

    private mutating func trigger(_ trigger: SyncTrigger, at now: MonotonicTime) -> [SyncEffect] {
        switch phase {
        case .stopped: return []
        case .halted:
            if trigger == .asked || trigger == .resumed { resume(because: trigger) }
            return []
        case .idle, .running: break
        }
        schedule.ask(trigger, reading: trigger == .localChange ? [] : RecordType.known)
        switch trigger {
        case .asked:
            schedule.endWait()
            return stream.hurry(at: now)
        case .networkGained:
            schedule.forgetFailures()
            stream.forgetFailures()
            schedule.endWaitUnlessLimited()
            return stream.hurry(at: now)
        case .started, .localChange, .remoteChange, .streamOpened, .poll, .retry, .resumed: return []
        }
    }

    private mutating func wake(_ moment: SyncMoment) -> [SyncEffect] {
        if case .idle = phase {
            if moment.now >= nextPoll { poll(at: moment.now) }
            if outbox.wake(at: moment.now) { schedule.ask(.retry) }
        }
        return stream.wake(moment, timing)
    }

    private mutating func poll(at now: MonotonicTime) {
        if schedule.poll(at: now) {
            counters.polls += 1
        } else {
            counters.pollsSkipped += 1
        }
    }

    private mutating func streamOpened(at now: MonotonicTime) {
        guard stream.opened(at: now) else { return }
        counters.streamOpenings += 1
        // The stream does not report earlier changes, but this run will fetch them.
        if let run, run.isFull, !run.isPastSubscribe { return }
        schedule.endWaitUnlessLimited()
        schedule.ask(.streamOpened, reading: RecordType.known)
    }

    private mutating func remoteChanged(_ types: [RecordType], by host: HostID?, at now: MonotonicTime) {
        stream.heard(at: now)
        guard host != self.host, stream.pushed(at: now) else { return }
        schedule.remoteChanged()
        let known = types.filter(RecordType.known.contains)
        if !known.isEmpty { schedule.ask(.remoteChange, reading: known) }
    }
}
