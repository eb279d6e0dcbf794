/// Limits and intervals of the sync session, as configured (Docs/Sync.md#figures).
package struct SyncTiming: Hashable, Sendable {
    package var pageRecordsMax = 400
    package var batchRecordsMax = 400
    /// Approximate maximum size of one batch as sent, in bytes.
    package var batchBytesMax = 1 << 20
    package var backoff = FullJitter()
    /// Maximum for the cloud's `retryAfter`, so that one wrong number does not stop the session.
    package var rateLimitWaitMax = Duration.seconds(3600)
    /// Time without a reported change before a poll.
    package var pollInterval = Duration.seconds(300)
    /// Time from the end of a run to the next push of postponed records (`SyncRun.putOff`).
    package var putOffInterval = Duration.seconds(30)
    /// Maximum time that a run waits for the event stream to open.
    package var subscribeTimeout = Duration.seconds(5)
    /// Time without data after which the event stream counts as broken; the cloud pings every 15 s.
    package var streamSilence = Duration.seconds(45)
    /// Minimum time between two searches for expired tombstones and old history.
    package var cleanUpInterval = Duration.seconds(3600)
    /// Maximum number of repairs of each kind in one run: creating or checking the zone, entering it (`adopt`), a
    /// refetch, a restamp. If a cloud needs more, the run fails.
    package var repairsMax = 3
    /// Pause before a retry of held-back changes (`QuotaState`).
    var fullBackoff = FullJitter(base: .seconds(30), ceiling: .seconds(600))
    /// Number of held-back records per retry. If the cloud accepts one, the next retry follows immediately.
    var fullRecordsMax = 50
    /// Minimum change of the clock offset that is reported to the store.
    var clockStep = Duration.seconds(60)

    package init() {}
}

/// Random pause up to a bound that doubles with each failure. Spreads the retries of hosts that failed at the same
/// time.
package struct FullJitter: Hashable, Sendable {
    package var base: Duration
    package var ceiling: Duration

    package init(base: Duration = .seconds(1), ceiling: Duration = .seconds(300)) {
        self.base = base
        self.ceiling = ceiling
    }

    /// - Parameter failures: at least 1.
    package func delay(afterFailures failures: Int, random: UInt64) -> Duration {
        let bound = bound(afterFailures: failures)
        // Steps of 1/1000 spread the hosts well enough, and the product cannot overflow.
        return bound * Int(random % 1001) / 1000
    }

    package func bound(afterFailures failures: Int) -> Duration {
        var bound = base
        for _ in 0..<min(max(failures - 1, 0), 62) where bound < ceiling { bound = bound * 2 }
        return min(bound, ceiling)
    }
}
