/// How much at once and how long between, as configured (Docs/Sync.md#figures).
package struct SyncTiming: Hashable, Sendable {
    /// Records in one page of changes.
    package var pageRecordsMax = 400
    package var batchRecordsMax = 400
    /// Bytes in one batch, roughly as they travel.
    package var batchBytesMax = 1 << 20
    package var backoff = FullJitter()
    /// The longest that the cloud may make this host wait (`retryAfter`), so that one wrong number is no halt.
    package var rateLimitWaitMax = Duration.seconds(3600)
    /// Without a remote change for so long, changes are asked for.
    package var pollInterval = Duration.seconds(300)
    /// What the cloud could not take is told again so long after the run.
    package var putOffInterval = Duration.seconds(30)
    /// A run waits so long for the event stream to open, then goes on without it.
    package var subscribeTimeout = Duration.seconds(5)
    /// An event stream that says nothing for so long is dead: the cloud pings every 15 s.
    package var streamSilence = Duration.seconds(45)
    /// Expired tombstones and old history are looked for at most so often.
    package var cleanUpInterval = Duration.seconds(3600)
    /// How often one run may make the zone, begin a type anew, adopt another epoch or stamp anew, each. Beyond that the
    /// cloud contradicts itself and the run fails, to be tried again later.
    package var repairsMax = 3
    /// How long what the cloud has no room for waits until some of it is tried again.
    package var fullBackoff = FullJitter(base: .seconds(30), ceiling: .seconds(600))
    /// How many records are tried then; where one of them is taken, as many follow at once.
    package var fullRecordsMax = 50
    /// A change of the measured clock offset beyond this is told to the store.
    package var clockStep = Duration.seconds(60)

    package init() {}
}

/// Waits before another attempt: anything between nothing and a bound that doubles with each failure, so that many
/// hosts that failed together do not come back together.
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

    /// The most that `delay` returns.
    package func bound(afterFailures failures: Int) -> Duration {
        var bound = base
        for _ in 0..<min(max(failures - 1, 0), 62) where bound < ceiling { bound = bound * 2 }
        return min(bound, ceiling)
    }
}
