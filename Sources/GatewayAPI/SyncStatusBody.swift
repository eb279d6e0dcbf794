/// `GET /v1/sync`, and the answer to cancelling and resuming.
package struct SyncStatusBody: Codable, Hashable, Sendable {
    package struct Network: Codable, Hashable, Sendable {
        /// Whether there is a route to the cloud.
        package var satisfied: Bool
        @NullCodable package var interface: String?
        /// `wifi`, `wired` or `other`.
        @NullCodable package var kind: String?

        package init(satisfied: Bool, interface: String?, kind: String?) {
            self.satisfied = satisfied
            self.interface = interface
            self.kind = kind
        }
    }

    /// Counts since the host joined or meterd started, whichever was later.
    package struct Counters: Codable, Hashable, Sendable {
        package var runs: UInt64 = 0
        package var complete: UInt64 = 0
        package var failed: UInt64 = 0
        package var cancelled: UInt64 = 0
        package var polls: UInt64 = 0
        /// Polls omitted because an event reported the change.
        package var polls_skipped: UInt64 = 0
        package var pages: UInt64 = 0
        package var batches: UInt64 = 0
        package var splits: UInt64 = 0
        package var parked: UInt64 = 0
        package var stream_openings: UInt64 = 0

        package init() {}
    }

    /// A change that the cloud cannot accept yet; it remains in the outbox.
    package struct PutOff: Codable, Hashable, Sendable {
        package var type: String
        package var name: String
        package var reason: String

        package init(type: String, name: String, reason: String) {
            self.type = type
            self.name = name
            self.reason = reason
        }
    }

    package var zone: String
    /// `stopped`, `idle`, `waiting`, `halted`, or the step of the present run: `readProgress`, `account`, `createZone`,
    /// `subscribe`, `modify`, `fetch`, `cleanUp`.
    package var mode: String
    package var pending: Int
    /// Rights in the zone, `full` or `readOnly` (changes then wait until the host joins with another access token);
    /// null until the cloud reports them.
    @NullCodable package var role: String?
    /// Records whose changes wait until the cloud has free space.
    package var held_back: Int
    /// The cloud's exhausted limit and its remedy; null if there is none.
    @NullCodable package var full: String?
    @NullCodable package var full_retry_in_ms: Int64?
    /// Absent from an older version.
    @NullCodable package var put_off: [PutOff]?
    /// Records excluded from sync (`GET /v1/sync/parked`).
    package var parked: Int
    package var unread: [String]
    /// Record types in a full resync.
    package var refetching: [String]
    /// Whether another run follows the present run or the retry pause.
    package var again: Bool
    package var cancelling: Bool
    /// Consecutive failed runs, including those before a restart.
    package var failures: Int
    /// Time of the last complete run, also before a restart: milliseconds since 1970 by the system clock.
    @NullCodable package var last_success_ms: Int64?
    @NullCodable package var error: String?
    /// Remedy for a halt of sync; null unless sync has halted.
    @NullCodable package var halt: String?
    @NullCodable package var retry_in_ms: Int64?
    /// Time until the next poll, unless an event reports a change earlier.
    @NullCodable package var poll_in_ms: Int64?
    /// State of the cloud's event stream: `closed`, `opening`, `open` or `waiting`.
    package var stream: String
    /// Time since the event stream last received data; null unless it is open.
    @NullCodable package var stream_age_ms: Int64?
    /// Time since the event stream last reported another host's change; null if never.
    @NullCodable package var push_age_ms: Int64?
    /// Lag of this host's system clock behind the cloud's.
    @NullCodable package var clock_behind_ms: Int64?
    /// Uncertainty of `clock_behind_ms`.
    @NullCodable package var clock_error_ms: Int64?
    @NullCodable package var epoch: String?
    @NullCodable package var network: Network?
    /// Increases with every merge that changed data on this host.
    package var refresh_version: UInt64
    package var counters: Counters
    @NullCodable package var result: SyncResultBody?

    package init(zone: String, mode: String, stream: String, counters: Counters = Counters()) {
        self.zone = zone
        self.mode = mode
        self.stream = stream
        self.counters = counters
        (pending, held_back, parked, failures, refresh_version) = (0, 0, 0, 0, 0)
        (put_off, unread, refetching, again, cancelling) = ([], [], [], false, false)
    }
}
