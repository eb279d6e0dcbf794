/// `POST /v1/sync`.
package struct SyncRequest: Codable, Hashable, Sendable {
    /// Return at once instead of with the result.
    package var detach: Bool?

    package init(detach: Bool? = nil) { self.detach = detach }
}

/// How one run of the sync engine ended: the answer to `POST /v1/sync`, and in `GET /v1/sync`. Unknown is null.
package struct SyncResultBody: Codable, Hashable, Sendable {
    /// What a run did with one type's records.
    package struct Counts: Codable, Hashable, Sendable {
        package var type: String
        /// Sent, and accepted by the cloud.
        package var pushed: Int
        /// Received from the cloud, with changes here.
        package var fetched: Int
        /// Received from the cloud with nothing new.
        package var unchanged: Int
        /// Impossible to keep here, or refused by the cloud; set aside with the reason.
        package var parked: Int

        package init(type: String, pushed: Int, fetched: Int, unchanged: Int, parked: Int) {
            self.type = type
            self.pushed = pushed
            self.fetched = fetched
            self.unchanged = unchanged
            self.parked = parked
        }
    }

    /// The number of the run, from 1 on, since the daemon started.
    package var run: UInt64
    /// `asked`, `localChange`, `remoteChange`, `poll` …
    package var trigger: String
    /// How long ago it began.
    package var age_ms: Int64
    package var duration_ms: Int64
    /// `complete`, `partial`, `cancelled`, `failed` or `halted`.
    package var end: String
    package var was_cancelled: Bool
    /// Records older than those here, or impossible to keep.
    package var skipped: Int
    /// In the order in which the types sync.
    package var types: [Counts]
    /// Why it failed.
    @NullCodable package var error: String?
    /// What a person has to do about that, if anything.
    @NullCodable package var next: String?

    package init(
        run: UInt64, trigger: String, age_ms: Int64, duration_ms: Int64, end: String, was_cancelled: Bool, skipped: Int,
        types: [Counts]
    ) {
        self.run = run
        self.trigger = trigger
        self.age_ms = age_ms
        self.duration_ms = duration_ms
        self.end = end
        self.was_cancelled = was_cancelled
        self.skipped = skipped
        self.types = types
    }
}

/// One line of `GET /v1/sync/events`.
package struct SyncEventLine: Codable, Hashable, Sendable {
    /// From 1 on, since the host joined or the daemon started.
    package var number: UInt64
    /// How long the host had been up.
    package var uptime_ms: Int64
    /// When it happened, by this host's calendar: `2026-11-21T13:40:05.250Z`. Absent from an older daemon.
    package var time: String?
    /// One line for people.
    package var event: String
    /// Events dropped before this one because the client was too slow; absent if none were.
    package var missed: Int?

    package init(number: UInt64, uptime_ms: Int64, time: String? = nil, event: String, missed: Int? = nil) {
        self.number = number
        self.uptime_ms = uptime_ms
        self.time = time
        self.event = event
        self.missed = missed
    }
}

/// One line of `GET /v1/refreshes`: records on display have changed.
package struct RefreshLine: Codable, Hashable, Sendable {
    /// Rises with every change by this host or another.
    package var refresh_version: UInt64

    package init(refresh_version: UInt64) { self.refresh_version = refresh_version }
}
