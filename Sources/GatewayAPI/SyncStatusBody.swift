/// `GET /v1/sync`, and the answer to cancelling and resuming. Unknown or not applicable is null.
package struct SyncStatusBody: Codable, Hashable, Sendable {
    /// What the network monitor says.
    package struct Network: Codable, Hashable, Sendable {
        /// There is a way to the cloud.
        package var satisfied: Bool
        package var interface: String?
        /// `wifi`, `wired` or `other`.
        package var kind: String?

        package init(satisfied: Bool, interface: String?, kind: String?) {
            self.satisfied = satisfied
            self.interface = interface
            self.kind = kind
        }

        /// Written out so that what is unknown is `null` and not missing.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(satisfied, forKey: .satisfied)
            try container.encode(interface, forKey: .interface)
            try container.encode(kind, forKey: .kind)
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
    /// Changes that wait to be told.
    package var pending: Int
    /// Records of which something waits until the cloud has room for it.
    package var held_back: Int
    /// Why the cloud has no room for them: which limit, and what to do. null: it has.
    package var full: String?
    /// Until some of them are tried again.
    package var full_retry_in_ms: Int64?
    /// Those of them that the cloud cannot take yet, with why. Absent from an older daemon.
    package var put_off: [PutOff]?
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
    package var last_success_ms: Int64?
    /// Of the last run that failed, null after one that did not.
    package var error: String?
    /// Where the session halted: what to do.
    package var halt: String?
    /// Until a run that failed is tried again.
    package var retry_in_ms: Int64?
    /// Until changes are asked for, unless one is told before.
    package var poll_in_ms: Int64?
    /// `closed`, `opening`, `open` or `waiting`.
    package var stream: String
    /// Since the event stream was last heard.
    package var stream_age_ms: Int64?
    /// Since another host's change was last told by it.
    package var push_age_ms: Int64?
    /// What this host's wall clock is behind the cloud's.
    package var clock_behind_ms: Int64?
    /// How sure that is.
    package var clock_error_ms: Int64?
    /// Of the cloud's store.
    package var epoch: String?
    package var network: Network?
    /// Rises with every merge that changed something here.
    package var refresh_version: UInt64
    package var counters: Counters
    /// Of the last run.
    package var result: SyncResultBody?

    package init(zone: String, mode: String, stream: String, counters: Counters = Counters()) {
        self.zone = zone
        self.mode = mode
        self.stream = stream
        self.counters = counters
        (pending, held_back, parked, failures, refresh_version) = (0, 0, 0, 0, 0)
        (put_off, unread, refetching, again, cancelling) = ([], [], [], false, false)
    }

    /// Written out so that what is unknown is `null` and not missing.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(zone, forKey: .zone)
        try container.encode(mode, forKey: .mode)
        try container.encode(pending, forKey: .pending)
        try container.encode(held_back, forKey: .held_back)
        try container.encode(full, forKey: .full)
        try container.encode(full_retry_in_ms, forKey: .full_retry_in_ms)
        try container.encode(put_off, forKey: .put_off)
        try container.encode(parked, forKey: .parked)
        try container.encode(unread, forKey: .unread)
        try container.encode(refetching, forKey: .refetching)
        try container.encode(again, forKey: .again)
        try container.encode(cancelling, forKey: .cancelling)
        try container.encode(failures, forKey: .failures)
        try container.encode(last_success_ms, forKey: .last_success_ms)
        try container.encode(error, forKey: .error)
        try container.encode(halt, forKey: .halt)
        try container.encode(retry_in_ms, forKey: .retry_in_ms)
        try container.encode(poll_in_ms, forKey: .poll_in_ms)
        try container.encode(stream, forKey: .stream)
        try container.encode(stream_age_ms, forKey: .stream_age_ms)
        try container.encode(push_age_ms, forKey: .push_age_ms)
        try container.encode(clock_behind_ms, forKey: .clock_behind_ms)
        try container.encode(clock_error_ms, forKey: .clock_error_ms)
        try container.encode(epoch, forKey: .epoch)
        try container.encode(network, forKey: .network)
        try container.encode(refresh_version, forKey: .refresh_version)
        try container.encode(counters, forKey: .counters)
        try container.encode(result, forKey: .result)
    }
}
