import Domain

struct SilenceWatch: Sendable {
    /// Start of the time without a device report. Each pause between discoveries moves it forward. Nil while discovery
    /// is not meant to run.
    private(set) var since: MonotonicTime?
    private(set) var hasEverHeard = false

    mutating func heard(at now: MonotonicTime) {
        hasEverHeard = true
        restart(at: now)
    }

    mutating func begin(at now: MonotonicTime) { since = now }

    mutating func stop() { since = nil }

    mutating func restart(at now: MonotonicTime) { if since != nil { since = now } }

    /// Excludes a pause: only time spent listening counts as silence.
    mutating func resume(after pause: MonotonicTime, at now: MonotonicTime) {
        since = since.map { min(now, $0 + (now - max($0, pause))) }
    }
}
