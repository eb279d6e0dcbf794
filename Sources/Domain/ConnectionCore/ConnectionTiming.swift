/// Timeouts on the boot-time clock.
package struct ConnectionTiming: Hashable, Sendable {
    /// Timeout of a link attempt; at least 10 s for a first connect (Docs/States.md#times).
    package var connectTimeout: Duration
    /// Time from the last good frame to the end of `data-available`.
    package var staleAfter: Duration
    /// Time without a good frame after which the link counts as lost.
    package var silenceTimeout: Duration
    /// Pause between a lost link and a retry, in which the system reports whether the device is gone.
    package var settleTime: Duration
    package var backoff: Backoff

    package init(
        connectTimeout: Duration = .seconds(10), staleAfter: Duration = .seconds(3),
        silenceTimeout: Duration = .seconds(15), settleTime: Duration = .milliseconds(500),
        backoff: Backoff = Backoff()
    ) {
        self.connectTimeout = connectTimeout
        self.staleAfter = staleAfter
        self.silenceTimeout = silenceTimeout
        self.settleTime = settleTime
        self.backoff = backoff
    }
}

/// Pause before a retry: doubles from `base` up to `cap`, ± 20 %, so that many meters on one hub do not retry
/// simultaneously.
package struct Backoff: Hashable, Sendable {
    package var base: Duration
    package var cap: Duration

    package init(base: Duration = .seconds(1), cap: Duration = .seconds(60)) {
        self.base = base
        self.cap = cap
    }

    /// - Parameter failures: failed attempts since the last data, at least 1.
    package func delay(afterFailures failures: Int, random: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        let delay = min(cap, base * (1 << doublings))
        return delay * (800 + Int(random % 400)) / 1000
    }
}
