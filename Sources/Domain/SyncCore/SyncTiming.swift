/// Sizes and times of the session, as configured (Docs/Sync.md#figures).
package struct SyncTiming: Hashable, Sendable {
    /// Records in one page of changes.
    package var pageRecordsMax = 400
    package var batchRecordsMax = 400
    /// Approximate bytes in one batch, as sent.
    package var batchBytesMax = 1 << 20
    package var backoff = FullJitter()
    /// The longest wait that the cloud may ask for (`retryAfter`), so that one wrong number does not stop the session.
    package var rateLimitWaitMax = Duration.seconds(3600)
    /// Without a remote change for this long, changes are asked for.
    package var pollInterval = Duration.seconds(300)
    /// Time from the end of a run to another attempt at what the cloud could not accept.
    package var putOffInterval = Duration.seconds(30)
    /// How long a run waits for the event stream to open before it continues without.
    package var subscribeTimeout = Duration.seconds(5)
    /// An event stream that is silent for this long is dead: the cloud pings every 15 s.
    package var streamSilence = Duration.seconds(45)
    /// Shortest time between two searches for expired tombstones and old history.
    package var cleanUpInterval = Duration.seconds(3600)
    /// How often one run may make the zone, begin a type anew, adopt another epoch or stamp anew, each. Beyond that the
    /// cloud contradicts itself, and the run fails, to be tried again later.
    package var repairsMax = 3
    /// Wait before some of what the cloud has no room for is tried again.
    var fullBackoff = FullJitter(base: .seconds(30), ceiling: .seconds(600))
    /// Number of records tried then; if one of them is accepted, as many follow at once.
    var fullRecordsMax = 50
    /// The store is told of a change of the measured clock offset beyond this.
    var clockStep = Duration.seconds(60)

    package init() {}
}

/// A random wait before another attempt, between zero and a bound that doubles with each failure, so that many hosts
/// that failed together do not come back together.
package struct FullJitter: Hashable, Sendable {
    package var base: Duration
    package var ceiling: Duration

    package init(base: Duration = .seconds(1), ceiling: Duration = .seconds(300)) {
        self.base = base
        self.ceiling = ceiling
    }

    /// - Parameters:
    ///   - failures: in a row, at least 1.
    ///   - random: random bits.
    package func delay(afterFailures failures: Int, random: UInt64) -> Duration {
        let bound = bound(afterFailures: failures)
        // Thousandths are fine enough to spread hosts, and never overflow.
        return bound * Int(random % 1001) / 1000
    }

    /// The longest wait that `delay` returns.
    package func bound(afterFailures failures: Int) -> Duration {
        var bound = base
        for _ in 0..<min(max(failures - 1, 0), 62) where bound < ceiling { bound = bound * 2 }
        return min(bound, ceiling)
    }
}
