import MeterModel

/// One meter in `GET /v1/status` and in `meterctl status --json`. Unknown is null.
package struct MeterStatus: Codable, Hashable, Sendable {
    package var id: String
    package var model: String?
    /// The name a person gave it.
    package var name: String?
    /// One of the seven states, as on the command line.
    package var state: String
    /// Since when, RFC 3339.
    package var since: String
    /// The id means something on this host alone (product.md, Identity).
    package var local_only: Bool
    /// It is to be connected, now and after a restart.
    package var wanted: Bool
    package var transport: String?
    package var port: String?
    /// Every kind of link that leads to it now, the one that would be used first.
    package var transports: [String] = []
    /// How loud its radio was when last heard, in dBm; null over a cable, and where the adapter does not say.
    package var rssi: Int?
    /// The last reading, null before the first.
    package var reading: ReadingBody?
    /// How old that reading is.
    package var age_ms: Int64?
    package var device: DeviceBody?
    /// How often the meter is asked; null for a meter that pushes.
    package var poll_interval_ms: Int64?
    /// Until the next attempt to connect, while one is waited for.
    package var retry_in_ms: Int64?
    /// It is not heard here, and how long it is still looked for before its lease is given back; null while it is not
    /// looked for.
    package var searching_ms: Int64?
    /// Who may talk to it. Null only from a daemon that knows no leases.
    package var lease: LeaseStatus?
    /// The last thing that went wrong and has not been made good by data since, with what to do.
    package var error: String?
    package var counters: Counters

    /// Counted since the daemon started.
    package struct Counters: Codable, Hashable, Sendable {
        package var readings = 0
        /// Bytes passed over to find a good frame.
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

    /// Written out so that what is unknown is `null` and not missing.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(model, forKey: .model)
        try container.encode(name, forKey: .name)
        try container.encode(state, forKey: .state)
        try container.encode(since, forKey: .since)
        try container.encode(local_only, forKey: .local_only)
        try container.encode(wanted, forKey: .wanted)
        try container.encode(transport, forKey: .transport)
        try container.encode(port, forKey: .port)
        try container.encode(transports, forKey: .transports)
        try container.encode(rssi, forKey: .rssi)
        try container.encode(reading, forKey: .reading)
        try container.encode(age_ms, forKey: .age_ms)
        try container.encode(device, forKey: .device)
        try container.encode(poll_interval_ms, forKey: .poll_interval_ms)
        try container.encode(retry_in_ms, forKey: .retry_in_ms)
        try container.encode(searching_ms, forKey: .searching_ms)
        try container.encode(lease, forKey: .lease)
        try container.encode(error, forKey: .error)
        try container.encode(counters, forKey: .counters)
    }
}

/// What a meter says of itself.
package struct DeviceBody: Codable, Hashable, Sendable {
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var power_on_count: Int?

    package init(serial: String?, firmware: String?, hardware: String?, power_on_count: Int?) {
        self.serial = serial
        self.firmware = firmware
        self.hardware = hardware
        self.power_on_count = power_on_count
    }

    /// Written out so that what is unknown is `null` and not missing.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(serial, forKey: .serial)
        try container.encode(firmware, forKey: .firmware)
        try container.encode(hardware, forKey: .hardware)
        try container.encode(power_on_count, forKey: .power_on_count)
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
    package var error: String?
    /// What takes the room, where the file is larger than it may be though readings were deleted for that; else null.
    package var crowding: String?

    package init(path: String, unsaved: Int, saved: Int, dropped: Int, error: String?, crowding: String? = nil) {
        self.crowding = crowding
        self.path = path
        self.unsaved = unsaved
        self.saved = saved
        self.dropped = dropped
        self.error = error
    }

    /// Written out so that no error is `null` and not missing.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(unsaved, forKey: .unsaved)
        try container.encode(saved, forKey: .saved)
        try container.encode(dropped, forKey: .dropped)
        try container.encode(error, forKey: .error)
        try container.encode(crowding, forKey: .crowding)
    }
}
