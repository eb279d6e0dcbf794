import MeterModel
import SettingsCore

/// The event stream: opening it, hearing from it, losing it.
extension SyncState {
    mutating func openStream(at now: MonotonicTime) -> [SyncEffect] {
        stream = .opening(since: now)
        return [.openEvents]
    }

    mutating func closeStream() -> [SyncEffect] {
        defer {
            stream = .closed
            streamFailures = 0
        }
        switch stream {
        case .closed, .waiting: return []
        case .opening, .open: return [.closeEvents]
        }
    }

    mutating func streamOpened(at now: MonotonicTime) {
        guard case .opening = stream else { return }
        stream = .open(since: now, lastHeard: now)
        counters.streamOpenings += 1
        // What happened before is unknown. A run that reads everything and has not begun to will see it.
        if let run, run.isFull, !run.isPastSubscribe { return }
        unread = Set(RecordType.known)
        // The cloud answers: no need to wait for it any longer, unless it named the time.
        if retry?.isLimit != true { retry = nil }
        ask(.streamOpened)
    }

    mutating func streamHeard(at now: MonotonicTime) {
        if case .open(let since, _) = stream { stream = .open(since: since, lastHeard: now) }
    }

    mutating func remoteChanged(_ types: [RecordType], by host: HostID?, at now: MonotonicTime) {
        streamHeard(at: now)
        // What this host itself told, it has.
        guard case .open = stream, host != self.host else { return }
        lastPush = now
        hasRemoteChange = true
        let known = types.filter(RecordType.known.contains)
        guard !known.isEmpty else { return }
        unread.formUnion(known)
        ask(.remoteChange)
    }

    mutating func streamBroke(_ moment: SyncMoment) {
        switch stream {
        case .closed, .waiting: return
        case .opening: streamFailures += 1
        // One that held for long breaks for a reason of its own, and is worth a quick attempt.
        case .open(let since, _):
            streamFailures = moment.now - since >= timing.streamSilence ? 1 : streamFailures + 1
        }
        let delay = timing.backoff.delay(afterFailures: streamFailures, dice: moment.dice)
        stream = .waiting(retryAt: moment.now + delay)
    }

    mutating func wakeStream(_ moment: SyncMoment) -> [SyncEffect] {
        guard let deadline = streamDeadline, moment.now >= deadline else { return [] }
        if case .waiting = stream { return openStream(at: moment.now) }
        // Half a connection: it is open here and nobody is at the other end.
        streamBroke(moment)
        return [.closeEvents]
    }
}
