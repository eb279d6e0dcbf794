/// The times of the connection machine, all measured on the boot-time clock.
package struct ConnectionTiming: Hashable, Sendable {
    /// How long a link attempt may take; at least 10 s for a first connect (Docs/States.md#times).
    package var connectTimeout: Duration
    /// How long after the last good frame `data-available` ends.
    package var staleAfter: Duration
    /// How long after the last good frame the link counts as lost and is made anew.
    package var silenceTimeout: Duration
    /// How long to wait, after a link is lost, for a report that the device is gone before trying it again.
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

/// How long to wait before attempt number n: doubles from `base` up to `cap`, spread by a fifth either way so that many
/// meters on one hub do not all try at once. There is no last attempt.
package struct Backoff: Hashable, Sendable {
    package var base: Duration
    package var cap: Duration

    package init(base: Duration = .seconds(1), cap: Duration = .seconds(60)) {
        self.base = base
        self.cap = cap
    }

    /// - Parameters:
    ///   - failures: number of failed attempts since data last came, at least 1.
    ///   - random: random bits for the jitter.
    package func delay(afterFailures failures: Int, random: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        let delay = min(cap, base * (1 << doublings))
        // The factor is 0.800 to 1.199.
        return delay * (800 + Int(random % 400)) / 1000
    }
}
