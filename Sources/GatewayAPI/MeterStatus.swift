import MeterModel

/// One meter in `GET /v1/status` and in `meterctl status --json`. Unknown is null.
package struct MeterStatus: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var model: String?
    /// The name a person gave it.
    @NullCodable package var name: String?
    /// One of the seven states, as on the command line.
    package var state: String
    /// Since when, RFC 3339.
    package var since: String
    /// The id means something on this host alone (Docs/SettingsAndRebuild.md#meter-ids).
    package var local_only: Bool
    /// It is to be connected, now and after a restart.
    package var wanted: Bool
    @NullCodable package var transport: String?
    @NullCodable package var port: String?
    /// Every kind of link that leads to it now, the one that would be used first.
    package var transports: [String] = []
    /// How loud its radio was when last heard, in dBm; null over a cable, and where the adapter does not say.
    @NullCodable package var rssi: Int?
    /// The last reading, null before the first.
    @NullCodable package var reading: ReadingBody?
    /// How old that reading is.
    @NullCodable package var age_ms: Int64?
    @NullCodable package var device: DeviceBody?
    /// How often the meter is asked; null for a meter that pushes.
    @NullCodable package var poll_interval_ms: Int64?
    /// Until the next attempt to connect, while one is waited for.
    @NullCodable package var retry_in_ms: Int64?
    /// It is not heard here, and how long it is still looked for before its lease is given back; null while it is not
    /// looked for.
    @NullCodable package var searching_ms: Int64?
    /// Who may talk to it. Null only from a daemon that knows no leases.
    @NullCodable package var lease: LeaseStatus?
    /// The last thing that went wrong and has not been made good by data since, with what to do.
    @NullCodable package var error: String?
    package var counters: Counters

    /// Counted since the daemon started.
    package struct Counters: Codable, Hashable, Sendable {
        package var readings = 0
        /// Bytes skipped to find a good frame.
        package var skipped_bytes = 0
        /// Times a good frame had to be searched for.
        package var resynchronisations = 0
        /// Requests that no answer came to.
        package var timeouts = 0
        /// Links that went up.
        package var connects = 0
        /// Links that were lost.
        package var disconnects = 0
        /// What the meter refused.
        package var rejected = 0
        /// Samples whose value was absurd and was replaced by a neighbour's; absent where there was none.
        package var filtered_samples: Int?

        package init() {}
    }

    package init(id: String, state: String, since: String, local_only: Bool, wanted: Bool, counters: Counters) {
        self.id = id
        self.state = state
        self.since = since
        self.local_only = local_only
        self.wanted = wanted
        self.counters = counters
    }
}

/// What a meter says of itself.
package struct DeviceBody: Codable, Hashable, Sendable {
    @NullCodable package var serial: String?
    @NullCodable package var firmware: String?
    @NullCodable package var hardware: String?
    @NullCodable package var power_on_count: Int?

    package init(serial: String?, firmware: String?, hardware: String?, power_on_count: Int?) {
        self.serial = serial
        self.firmware = firmware
        self.hardware = hardware
        self.power_on_count = power_on_count
    }
}

extension MeterStatus {
    /// Its values are of now.
    package var hasData: Bool { state == ConnectionState.dataAvailable.rawValue }
}

/// `GET /v1/status`.
package struct GatewayStatus: Codable, Hashable, Sendable {
    package var meters: [MeterStatus]
    /// Empty where this host has no radio, or uses none.
    package var adapters: [AdapterStatus]
    package var store: StoreStatus

    package init(meters: [MeterStatus], adapters: [AdapterStatus] = [], store: StoreStatus) {
        self.meters = meters
        self.adapters = adapters
        self.store = store
    }
}

/// How the store is doing.
package struct StoreStatus: Codable, Hashable, Sendable {
    package var path: String
    /// Readings in memory that are not in the file yet.
    package var unsaved: Int
    package var saved: Int
    /// Readings given up because the store took none for too long.
    package var dropped: Int
    /// Why the last write failed, null while writes succeed.
    @NullCodable package var error: String?
    /// What takes the room, where the file is larger than it may be though readings were deleted for that; else null.
    @NullCodable package var crowding: String?

    package init(path: String, unsaved: Int, saved: Int, dropped: Int, error: String?, crowding: String? = nil) {
        self.crowding = crowding
        self.path = path
        self.unsaved = unsaved
        self.saved = saved
        self.dropped = dropped
        self.error = error
    }
}
