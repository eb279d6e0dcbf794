package import Domain

/// A meter in `GET /v1/status` and in `meterctl status --json`.
package struct MeterStatus: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var model: String?
    @NullCodable package var name: String?
    /// Connection state such as `data-available`, spelt as on the command line.
    package var state: String
    /// Start of `state`, RFC 3339.
    package var since: String
    /// Whether the id is valid on this host only (Docs/SettingsAndRebuild.md#meter-ids).
    package var local_only: Bool
    /// Whether meterd keeps the meter connected, also after a restart.
    package var wanted: Bool
    @NullCodable package var transport: String?
    @NullCodable package var port: String?
    /// All kinds of link to the meter, the preferred one first.
    package var transports: [String] = []
    /// Last signal strength in dBm; null over a cable, or if the adapter does not report it.
    @NullCodable package var rssi: Int?
    @NullCodable package var reading: ReadingBody?
    /// Minima and maxima of the last 0.5 to 1 s; only for a meter that samples too fast to show each sample.
    package var spread: SpreadBody?
    /// Sampling by the meter's own clock; absent unless requested.
    package var sampling: SamplingBody?
    @NullCodable package var age_ms: Int64?
    /// Energy and charge counted by meterd; absent before the first reading, and for another host's meter.
    package var counted: CountedBody?
    package var tariff: Tariff?
    /// The meter's data besides readings; absent if it sends none, or for another host's meter.
    package var told: TelemetryBody?
    /// Set if this host receives the meter's USB Power Delivery messages (`GET /v1/meters/{meter}/pd`).
    package var hears_pd: Bool?
    /// Name of the measuring host, if not this one.
    package var measured_by: String?
    /// The meter's state at another host that holds it.
    package var holder_state: String?
    /// True if the holder does not share its readings.
    package var unshared: Bool?
    @NullCodable package var device: DeviceBody?
    /// Poll interval; null if the meter sends without requests.
    @NullCodable package var poll_interval_ms: Int64?
    @NullCodable package var retry_in_ms: Int64?
    /// Time left to find the absent meter; null without a search.
    @NullCodable package var searching_ms: Int64?
    /// Null only from a meterd version without leases.
    @NullCodable package var lease: LeaseStatus?
    /// Problem with its remedy: undecodable answers, the last error until data arrive, or a fault of the open link.
    @NullCodable package var error: String?
    /// Answers without a valid frame since the last good one; absent if they may be chance.
    package var rejected_answers: Int?
    package var counters: Counters

    /// Counts since meterd started.
    package struct Counters: Codable, Hashable, Sendable {
        package var readings = 0
        /// Bytes skipped to find a valid frame.
        package var skipped_bytes = 0
        package var resynchronisations = 0
        package var timeouts = 0
        package var connects = 0
        package var disconnects = 0
        package var rejected = 0
        /// Impossible samples, dropped or replaced by a neighbour; absent if none.
        package var filtered_samples: Int?
        /// Samples by the meter's own clock that never arrived; absent if none.
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

package struct SpreadBody: Codable, Hashable, Sendable {
    package var count: Int
    package var least: ReadingBody
    package var greatest: ReadingBody

    package init(count: Int, least: ReadingBody, greatest: ReadingBody) {
        self.count = count
        self.least = least
        self.greatest = greatest
    }
}

package struct SamplingBody: Codable, Hashable, Sendable {
    /// The setting `rate`, in samples per second.
    package var wanted: Int
    /// Samples per second in use; null while meterd polls single measurements.
    @NullCodable package var rate: Int?
    @NullCodable package var error: String?

    package init(wanted: Int, rate: Int?, error: String?) {
        self.wanted = wanted
        self.rate = rate
        self.error = error
    }
}

/// Energy and charge counted by meterd.
package struct CountedBody: Codable, Hashable, Sendable {
    package var by = "meterd"
    /// Signed for a meter without counters: energy that flows back is subtracted. Null if the meter measures no power.
    @NullCodable package var energy_Wh: Double?
    /// Null if the meter measures no current.
    @NullCodable package var charge_mAh: Double?
    /// Start of the count: the first reading, the last `reset-energy`, or the return of the meter from another host;
    /// RFC 3339.
    package var since: String
    /// Duration covered by the count, without gaps.
    package var counted_ms: Int64

    package init(energy_Wh: Double?, charge_mAh: Double?, since: String, counted_ms: Int64) {
        self.energy_Wh = energy_Wh
        self.charge_mAh = charge_mAh
        self.since = since
        self.counted_ms = counted_ms
    }
}

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
    package var hasData: Bool { state == ConnectionState.dataAvailable.rawValue }

    /// Another host that has the meter; nil if this host also wants it.
    package var holderElsewhere: String? { lease?.state == .elsewhere && !wanted ? lease?.holder : nil }
}

/// `GET /v1/status`.
package struct GatewayStatus: Codable, Hashable, Sendable {
    package var meters: [MeterStatus]
    /// Empty if this host has or uses no radio.
    package var adapters: [AdapterStatus]
    package var store: StoreStatus
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

package struct StoreStatus: Codable, Hashable, Sendable {
    package var path: String
    /// Readings in memory that are not in the file yet.
    package var unsaved: Int
    package var saved: Int
    /// Readings lost because the store failed for too long.
    package var dropped: Int
    @NullCodable package var error: String?
    /// Warning that the file exceeds its limit although readings were deleted. Names its largest part besides readings.
    @NullCodable package var crowding: String?
    /// Null without backups.
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

package struct BackupStatus: Codable, Hashable, Sendable {
    package var directory: String
    /// Time of the last good backup by this machine's system clock at that time, RFC 3339.
    @NullCodable package var written: String?
    @NullCodable package var age_ms: Int64?
    @NullCodable package var error: String?

    package init(directory: String, written: String? = nil, age_ms: Int64? = nil, error: String? = nil) {
        self.directory = directory
        self.written = written
        self.age_ms = age_ms
        self.error = error
    }
}
