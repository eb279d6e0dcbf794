/// Sizes and times of the session, as configured (Docs/Sync.md#figures).
package struct SyncTiming: Hashable, Sendable {
    package var pageRecordsMax = 400
    package var batchRecordsMax = 400
    /// Approximate bytes in one batch, as sent.
    package var batchBytesMax = 1 << 20
    package var backoff = FullJitter()
    /// Maximum wait for the cloud's `retryAfter`, so that one wrong number does not stop the session.
    package var rateLimitWaitMax = Duration.seconds(3600)
    /// Time without a remote change before a poll.
    package var pollInterval = Duration.seconds(300)
    /// Time from the end of a run to another push of records put off.
    package var putOffInterval = Duration.seconds(30)
    /// Maximum time that a run waits for the event stream to open; then it goes on without.
    package var subscribeTimeout = Duration.seconds(5)
    /// Silence after which the event stream is dead; the cloud pings every 15 s.
    package var streamSilence = Duration.seconds(45)
    /// Minimum time between two searches for expired tombstones and old history.
    package var cleanUpInterval = Duration.seconds(3600)
    /// Maximum number of each repair in one run: creating the zone, a refetch, an adoption, a restamp. Beyond it the
    /// cloud contradicts itself and the run fails, to be retried later.
    package var repairsMax = 3
    /// Pause before a retry of held-back records.
    var fullBackoff = FullJitter(base: .seconds(30), ceiling: .seconds(600))
    /// Number of records in that retry; if the cloud accepts one, as many follow at once.
    var fullRecordsMax = 50
    /// Minimum change of the clock offset that the store must learn.
    var clockStep = Duration.seconds(60)

    package init() {}
}

/// Random pause between zero and a bound that doubles with each failure. It spreads hosts that failed together.
package struct FullJitter: Hashable, Sendable {
    package var base: Duration
    package var ceiling: Duration

    package init(base: Duration = .seconds(1), ceiling: Duration = .seconds(300)) {
        self.base = base
        self.ceiling = ceiling
    }

    /// - Parameter failures: number in a row, at least 1.
    package func delay(afterFailures failures: Int, random: UInt64) -> Duration {
        let bound = bound(afterFailures: failures)
        // Thousandths are fine enough to spread hosts, and never overflow.
        return bound * Int(random % 1001) / 1000
    }

    package func bound(afterFailures failures: Int) -> Duration {
        var bound = base
        for _ in 0..<min(max(failures - 1, 0), 62) where bound < ceiling { bound = bound * 2 }
        return min(bound, ceiling)
    }
}
