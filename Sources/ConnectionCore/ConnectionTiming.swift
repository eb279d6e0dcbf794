/// The times of the connection machine. All are lengths on the boot-time clock.
package struct ConnectionTiming: Hashable, Sendable {
    /// How long a link attempt may take; at least 10 s for a first connect (Docs/States.md#times).
    package var connectTimeout: Duration
    /// Without a good frame for so long, `data-available` is no longer true.
    package var staleAfter: Duration
    /// Without a good frame for so long, the link counts as lost and is made anew.
    package var silenceTimeout: Duration
    /// After a lost link, how long to wait for word that the device is gone before trying it again.
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

/// How long to wait before attempt number n: doubling from `base`, never above `cap`, spread by a fifth either way so
/// that many meters on one hub do not all try at once. There is no last attempt.
package struct Backoff: Hashable, Sendable {
    package var base: Duration
    package var cap: Duration

    package init(base: Duration = .seconds(1), cap: Duration = .seconds(60)) {
        self.base = base
        self.cap = cap
    }

    /// - Parameters:
    ///   - failures: attempts that failed since data last came, from 1.
    ///   - dice: random bits; the jitter comes from it.
    package func delay(afterFailures failures: Int, dice: UInt64) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        let delay = min(cap, base * (1 << doublings))
        // 800 to 1199 thousandths.
        return delay * (800 + Int(dice % 400)) / 1000
    }
}
