package import Domain

/// One meter in `GET /v1/status` and in `meterctl status --json`. Unknown is null.
package struct MeterStatus: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var model: String?
    /// The name a person gave it.
    @NullCodable package var name: String?
    /// One of the seven states, spelt as on the command line.
    package var state: String
    /// Since when, RFC 3339.
    package var since: String
    /// The id is valid on this host only (Docs/SettingsAndRebuild.md#meter-ids).
    package var local_only: Bool
    /// It is to be connected, now and after a restart.
    package var wanted: Bool
    @NullCodable package var transport: String?
    @NullCodable package var port: String?
    /// All kinds of link that lead to it now; the one that would be used first comes first.
    package var transports: [String] = []
    /// Signal strength when last heard, in dBm; null over a cable, or if the adapter does not report it.
    @NullCodable package var rssi: Int?
    /// The last reading; null before the first.
    @NullCodable package var reading: ReadingBody?
    /// What came within the last half second, or up to twice that, of a meter that samples too fast for each sample to be
    /// shown; absent for others.
    package var spread: SpreadBody?
    /// How it samples by its own clock; absent where nobody asked for that.
    package var sampling: SamplingBody?
    /// The age of that reading.
    @NullCodable package var age_ms: Int64?
    /// What meterd counted for it; absent before its first reading, and for another host's.
    package var counted: CountedBody?
    /// What a kilowatt-hour through it costs; absent where nobody said.
    package var tariff: Tariff?
    /// What the meter tells besides that, if anything and if it is here.
    package var told: ToldBody?
    /// True for a meter of this host that hears USB Power Delivery (`GET /v1/meters/{meter}/pd`); absent otherwise.
    package var hears_pd: Bool?
    /// The host that measured it, if that is another one.
    package var measured_by: String?
    /// Its state at the host that has it, if that is another one and has told it.
    package var holder_state: String?
    /// True where the host that has it keeps its readings to itself; absent otherwise.
    package var unshared: Bool?
    @NullCodable package var device: DeviceBody?
    /// How often the meter is asked; null if it sends by itself.
    @NullCodable package var poll_interval_ms: Int64?
    /// Time until the next attempt to connect, if one is due.
    @NullCodable package var retry_in_ms: Int64?
    /// The meter is not heard here: how much longer to look for it before its lease is given back; null if it is not
    /// being looked for.
    @NullCodable package var searching_ms: Int64?
    /// Who may talk to it. Null only from a daemon without leases.
    @NullCodable package var lease: LeaseStatus?
    /// The last error since which no data came, or what is wrong although data comes, with what to do.
    @NullCodable package var error: String?
    /// Answers without a valid frame since the last good one, where they are too many for chance; absent otherwise.
    package var rejected_answers: Int?
    package var counters: Counters

    /// Counts since the daemon started.
    package struct Counters: Codable, Hashable, Sendable {
        package var readings = 0
        /// Bytes skipped to find a good frame.
        package var skipped_bytes = 0
        /// Times a good frame had to be searched for.
        package var resynchronisations = 0
        /// Requests left unanswered.
        package var timeouts = 0
        /// Links that came up.
        package var connects = 0
        /// Links that were lost.
        package var disconnects = 0
        /// Refusals by the meter.
        package var rejected = 0
        /// Samples that the meter cannot have measured, left out or replaced by a neighbour; absent if there were none.
        package var filtered_samples: Int?
        /// Samples that the meter took by its own clock and that did not come; absent if there were none.
        package var lost_samples: Int?

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

/// The least and greatest of several readings.
package struct SpreadBody: Codable, Hashable, Sendable {
    /// Number of readings in it.
    package var count: Int
    package var least: ReadingBody
    package var greatest: ReadingBody

    package init(count: Int, least: ReadingBody, greatest: ReadingBody) {
        self.count = count
        self.least = least
        self.greatest = greatest
    }
}

/// How a meter samples that has a clock of its own.
package struct SamplingBody: Codable, Hashable, Sendable {
    /// The setting `rate`, in samples a second.
    package var wanted: Int
    /// At which it samples; null while it is asked for one measurement at a time.
    @NullCodable package var rate: Int?
    /// Why it does not sample at that rate, with what to do; null while it does, or prepares to.
    @NullCodable package var error: String?

    package init(wanted: Int, rate: Int?, error: String?) {
        self.wanted = wanted
        self.rate = rate
        self.error = error
    }
}

/// Energy and charge that meterd has counted for a meter: what programs get as its totals.
package struct CountedBody: Codable, Hashable, Sendable {
    /// Who counts: `meterd`.
    package var by = "meterd"
    /// Of a meter without counters with the sign of the current: what flowed back is taken off.
    package var energy_Wh: Double
    package var charge_mAh: Double
    /// Since when, RFC 3339: the first reading, the last `reset-energy`, or when the meter came back from another host.
    package var since: String
    /// How much of the time since then is in it; the rest is gaps.
    package var counted_ms: Int64

    package init(energy_Wh: Double, charge_mAh: Double, since: String, counted_ms: Int64) {
        self.energy_Wh = energy_Wh
        self.charge_mAh = charge_mAh
        self.since = since
        self.counted_ms = counted_ms
    }
}

/// What a meter says about itself.
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
    /// Whether its values are current.
    package var hasData: Bool { state == ConnectionState.dataAvailable.rawValue }

    /// The host that has it, if that is another one and this host does not try to get it.
    package var holderElsewhere: String? { lease?.state == .elsewhere && !wanted ? lease?.holder : nil }
}

/// `GET /v1/status`.
package struct GatewayStatus: Codable, Hashable, Sendable {
    package var meters: [MeterStatus]
    /// Empty if this host has no radio, or uses none.
    package var adapters: [AdapterStatus]
    package var store: StoreStatus
    /// Number of alerts that are raised; absent from a daemon that knows none.
    package var alerts_raised: Int?

    package init(
        meters: [MeterStatus], adapters: [AdapterStatus] = [], store: StoreStatus, alerts_raised: Int? = 0
    ) {
        self.meters = meters
        self.adapters = adapters
        self.store = store
        self.alerts_raised = alerts_raised
    }
}

/// The state of the store.
package struct StoreStatus: Codable, Hashable, Sendable {
    package var path: String
    /// Readings in memory that are not in the file yet.
    package var unsaved: Int
    package var saved: Int
    /// Readings given up because the store accepted none for too long.
    package var dropped: Int
    /// Why the last write failed; null while writes succeed.
    @NullCodable package var error: String?
    /// What takes up the room, if the file is larger than allowed although readings were deleted; otherwise null.
    @NullCodable package var crowding: String?
    /// Null if no backups are written.
    @NullCodable package var backup: BackupStatus?

    package init(path: String, unsaved: Int, saved: Int, dropped: Int, error: String?, crowding: String? = nil) {
        self.crowding = crowding
        self.path = path
        self.unsaved = unsaved
        self.saved = saved
        self.dropped = dropped
        self.error = error
    }
}

/// How the store's backups are doing.
package struct BackupStatus: Codable, Hashable, Sendable {
    package var directory: String
    /// When the last good one was written, by this machine's calendar then (RFC 3339); null if there is none.
    @NullCodable package var written: String?
    /// Its age; null if unknown.
    @NullCodable package var age_ms: Int64?
    /// Why the last attempt failed; null after a good one.
    @NullCodable package var error: String?

    package init(directory: String, written: String? = nil, age_ms: Int64? = nil, error: String? = nil) {
        self.directory = directory
        self.written = written
        self.age_ms = age_ms
        self.error = error
    }
}
