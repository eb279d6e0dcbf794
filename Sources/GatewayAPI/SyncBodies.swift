/// `POST /v1/sync`.
package struct SyncRequest: Codable, Hashable, Sendable {
    /// Whether to respond immediately, without the result.
    package var detach: Bool?

    package init(detach: Bool? = nil) { self.detach = detach }
}

/// A sync run in `GET /v1/sync` and in the answer to `POST /v1/sync`.
package struct SyncResultBody: Codable, Hashable, Sendable {
    package struct Counts: Codable, Hashable, Sendable {
        package var type: String
        /// Records that the cloud accepted.
        package var pushed: Int
        /// Received records that changed stored data.
        package var fetched: Int
        /// Received records that changed no stored data.
        package var unchanged: Int
        /// Records that this host cannot store or the cloud refused.
        package var parked: Int

        package init(type: String, pushed: Int, fetched: Int, unchanged: Int, parked: Int) {
            self.type = type
            self.pushed = pushed
            self.fetched = fetched
            self.unchanged = unchanged
            self.parked = parked
        }
    }

    /// Number of the run since meterd started, from 1.
    package var run: UInt64
    /// Cause of the run, such as `asked`, `localChange`, `remoteChange` or `poll`.
    package var trigger: String
    package var age_ms: Int64
    package var duration_ms: Int64
    /// `complete`, `partial`, `cancelled`, `failed` or `halted`.
    package var end: String
    package var was_cancelled: Bool
    /// Sum of `unchanged` and `parked` over all types.
    package var skipped: Int
    /// Counts by record type, in the order of syncing.
    package var types: [Counts]
    @NullCodable package var error: String?
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

/// A line of `GET /v1/sync/events`.
package struct SyncEventLine: Codable, Hashable, Sendable {
    /// Counted from 1 since the host joined or meterd started, whichever was later.
    package var number: UInt64
    package var uptime_ms: Int64
    /// Time by this host's system clock, such as `2026-11-21T13:40:05.250Z`. Absent from an older version.
    package var time: String?
    package var event: String
    /// Events dropped before this one because the client was too slow; absent if none.
    package var missed: Int?

    package init(number: UInt64, uptime_ms: Int64, time: String? = nil, event: String, missed: Int? = nil) {
        self.number = number
        self.uptime_ms = uptime_ms
        self.time = time
        self.event = event
        self.missed = missed
    }
}

/// A line of `GET /v1/refreshes`, sent when displayed records have changed.
package struct RefreshLine: Codable, Hashable, Sendable {
    /// Increases with every change of displayed records by any host.
    package var refresh_version: UInt64

    package init(refresh_version: UInt64) { self.refresh_version = refresh_version }
}
