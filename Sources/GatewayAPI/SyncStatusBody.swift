/// `GET /v1/sync`, and the answer to cancelling and resuming. Unknown or not applicable is null.
package struct SyncStatusBody: Codable, Hashable, Sendable {
    /// What the network monitor says.
    package struct Network: Codable, Hashable, Sendable {
        /// There is a way to the cloud.
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

    /// Counted since the host joined or the daemon started.
    package struct Counters: Codable, Hashable, Sendable {
        package var runs: UInt64 = 0
        package var complete: UInt64 = 0
        package var failed: UInt64 = 0
        package var cancelled: UInt64 = 0
        package var polls: UInt64 = 0
        /// Polls that a remote change made needless.
        package var polls_skipped: UInt64 = 0
        package var pages: UInt64 = 0
        package var batches: UInt64 = 0
        package var splits: UInt64 = 0
        package var parked: UInt64 = 0
        package var stream_openings: UInt64 = 0

        package init() {}
    }

    /// A change that the cloud cannot take yet. It stays in the outbox and is told again by itself.
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
    /// Changes that wait to be sent.
    package var pending: Int
    /// Records of which something waits until the cloud has room for it.
    package var held_back: Int
    /// Why the cloud has no room for them: which limit, and what to do. null: it has.
    @NullCodable package var full: String?
    /// Until some of them are tried again.
    @NullCodable package var full_retry_in_ms: Int64?
    /// Those of them that the cloud cannot take yet, with why. Absent from an older daemon.
    @NullCodable package var put_off: [PutOff]?
    /// Records that are not synced, with their reasons (`GET /v1/sync/parked`).
    package var parked: Int
    /// Types of which there is something to read.
    package var unread: [String]
    /// Types that are read anew from the beginning.
    package var refetching: [String]
    /// Another run follows the present one.
    package var again: Bool
    package var cancelling: Bool
    /// Runs that failed in a row, those before a restart too.
    package var failures: Int
    /// When a run was last complete, before a restart too: milliseconds since 1970 by this host's calendar.
    @NullCodable package var last_success_ms: Int64?
    /// Of the last run that failed, null after one that did not.
    @NullCodable package var error: String?
    /// Where the session halted: what to do.
    @NullCodable package var halt: String?
    /// Until a run that failed is tried again.
    @NullCodable package var retry_in_ms: Int64?
    /// Until changes are asked for, unless one is told before.
    @NullCodable package var poll_in_ms: Int64?
    /// `closed`, `opening`, `open` or `waiting`.
    package var stream: String
    /// Since the event stream was last heard.
    @NullCodable package var stream_age_ms: Int64?
    /// Since another host's change was last told by it.
    @NullCodable package var push_age_ms: Int64?
    /// What this host's wall clock is behind the cloud's.
    @NullCodable package var clock_behind_ms: Int64?
    /// How sure that is.
    @NullCodable package var clock_error_ms: Int64?
    /// Of the cloud's store.
    @NullCodable package var epoch: String?
    @NullCodable package var network: Network?
    /// Rises with every merge that changed something here.
    package var refresh_version: UInt64
    package var counters: Counters
    /// Of the last run.
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
