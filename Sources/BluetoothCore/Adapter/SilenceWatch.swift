import Domain

/// How long discovery has run without hearing a device.
struct SilenceWatch: Sendable {
    /// Since when nothing was heard. Nil while discovery is not meant to run. When a discovery begins, it moves forward
    /// by the time in which none was running.
    private(set) var since: MonotonicTime?
    private(set) var hasEverHeard = false

    /// A device was heard.
    mutating func heard(at now: MonotonicTime) {
        hasEverHeard = true
        restart(at: now)
    }

    /// Discovery is meant to run from now on.
    mutating func begin(at now: MonotonicTime) { since = now }

    mutating func stop() { since = nil }

    /// Counts from now on, if it counts.
    mutating func restart(at now: MonotonicTime) { if since != nil { since = now } }

    /// Discovery runs again after a pause. Only time spent listening counts as silence.
    mutating func resume(after pause: MonotonicTime, at now: MonotonicTime) {
        since = since.map { min(now, $0 + (now - max($0, pause))) }
    }
}
