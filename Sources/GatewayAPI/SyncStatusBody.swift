/// `GET /v1/sync`, and the answer to cancelling and resuming. Unknown or not applicable is null.
package struct SyncStatusBody: Codable, Hashable, Sendable {
    /// The network monitor's view.
    package struct Network: Codable, Hashable, Sendable {
        /// There is a route to the cloud.
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

    /// Counts since the host joined or the daemon started.
    package struct Counters: Codable, Hashable, Sendable {
        package var runs: UInt64 = 0
        package var complete: UInt64 = 0
        package var failed: UInt64 = 0
        package var cancelled: UInt64 = 0
        package var polls: UInt64 = 0
        /// Polls made unnecessary by a remote change.
        package var polls_skipped: UInt64 = 0
        package var pages: UInt64 = 0
        package var batches: UInt64 = 0
        package var splits: UInt64 = 0
        package var parked: UInt64 = 0
        package var stream_openings: UInt64 = 0

        package init() {}
    }

    /// A change that the cloud cannot accept yet. It stays in the outbox and is sent again automatically.
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
    /// `stopped`, `idle`, `waiting`, `halted`, or what the present run does: `readProgress`, `account`, `createZone`,
    /// `subscribe`, `modify`, `fetch`, `cleanUp`.
    package var mode: String
    /// Changes waiting to be sent.
    package var pending: Int
    /// What this host may do in the zone: `full`, or `readOnly`, where its changes wait until it joins with another token.
    /// Null before the cloud has said it.
    @NullCodable package var role: String?
    /// Records with changes that wait until the cloud has room.
    package var held_back: Int
    /// Why the cloud has no room for them: which limit, and what to do; null if it has.
    @NullCodable package var full: String?
    /// Time until some of them are tried again.
    @NullCodable package var full_retry_in_ms: Int64?
    /// Those that the cloud cannot accept yet, with the reasons. Absent from an older daemon.
    @NullCodable package var put_off: [PutOff]?
    /// Records that are not synced, with their reasons (`GET /v1/sync/parked`).
    package var parked: Int
    /// Types with something left to read.
    package var unread: [String]
    /// Types being read again from the beginning.
    package var refetching: [String]
    /// Whether another run follows the present one.
    package var again: Bool
    package var cancelling: Bool
    /// Consecutive failed runs, including those before a restart.
    package var failures: Int
    /// When a run was last complete, including before a restart: milliseconds since 1970 by this host's calendar.
    @NullCodable package var last_success_ms: Int64?
    /// The error of the last run; null if it did not fail.
    @NullCodable package var error: String?
    /// What to do if the session halted.
    @NullCodable package var halt: String?
    /// Time until a failed run is tried again.
    @NullCodable package var retry_in_ms: Int64?
    /// Time until changes are polled, unless an event reports one before.
    @NullCodable package var poll_in_ms: Int64?
    /// `closed`, `opening`, `open` or `waiting`.
    package var stream: String
    /// Time since the event stream was last heard.
    @NullCodable package var stream_age_ms: Int64?
    /// Time since it last reported another host's change.
    @NullCodable package var push_age_ms: Int64?
    /// How far this host's wall clock is behind the cloud's.
    @NullCodable package var clock_behind_ms: Int64?
    /// The uncertainty of that.
    @NullCodable package var clock_error_ms: Int64?
    /// The epoch of the cloud's store.
    @NullCodable package var epoch: String?
    @NullCodable package var network: Network?
    /// Rises with every merge that changed something here.
    package var refresh_version: UInt64
    package var counters: Counters
    /// The result of the last run.
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
