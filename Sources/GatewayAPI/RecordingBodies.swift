package import Domain

/// `POST /v1/meters/{meter}/recording`.
package struct RecordingRequest: Codable, Hashable, Sendable {
    package var name: String?
    /// Cut-off that makes the recording a battery test, such as `current < 50mA for 30s`.
    package var until: String?
    /// Current such as `0.1` or `100mA` that starts the test; absent: starts immediately. Requires `until`.
    package var start_above: String?
    /// Names of `[notify.NAME]` to notify at the end. Requires `until`.
    package var notify: [String]?
    /// Makes the recording a battery test of an electronic load: meterd sets the load, switches it on now, and off at
    /// the end. Without `until`, the test ends when the load switches itself off.
    package var load: LoadRequest?

    package init(
        name: String? = nil, until: String? = nil, start_above: String? = nil, notify: [String]? = nil,
        load: LoadRequest? = nil
    ) {
        self.name = name
        self.until = until
        self.start_above = start_above
        self.notify = notify
        self.load = load
    }
}

/// Settings of the load, as typed by the user.
package struct LoadRequest: Codable, Hashable, Sendable {
    package var current: String
    /// Cut-off voltage set in the load itself, such as `3.0V`.
    package var cutoff: String
    /// Time after which the load switches itself off, such as `8h` or `90m`.
    package var limit: String?
    /// What meterd does when a lost link returns. `keep` (also if absent): continues the test. `off`: switches the load
    /// off.
    package var on_link_loss: String?

    package init(current: String, cutoff: String, limit: String? = nil, on_link_loss: String? = nil) {
        self.current = current
        self.cutoff = cutoff
        self.limit = limit
        self.on_link_loss = on_link_loss
    }
}

package struct LoadBody: Codable, Hashable, Sendable {
    package var current_A: Double
    package var cutoff_V: Double
    @NullCodable package var limit_ms: Int64?
    package var on_link_loss: String
    /// `preparing`, `drawing`, `away` (the link is lost, the load continues by itself), `ending` (meterd switches it
    /// off) or `over`.
    package var state: String
    /// Warning for people; null if there is none.
    @NullCodable package var problem: String?

    package init(current_A: Double, cutoff_V: Double, limit_ms: Int64?, on_link_loss: String, state: String) {
        self.current_A = current_A
        self.cutoff_V = cutoff_V
        self.on_link_loss = on_link_loss
        self.state = state
        self.limit_ms = limit_ms
    }
}

package struct BatteryTestBody: Codable, Hashable, Sendable {
    package var until: String
    /// Null if the recording began immediately.
    @NullCodable package var start_above_A: Double?
    package var notify: [String]
    /// Whether a value that does not meet the cut-off was measured, such as 60 mA for `current < 50mA`. Only then can
    /// the cut-off end the test.
    package var armed: Bool
    @NullCodable package var quantity: String?
    /// First value that met the cut-off; null unless the cut-off ended the test.
    @NullCodable package var value: Double?
    package var load: LoadBody?

    package init(until: String, notify: [String], armed: Bool) {
        self.until = until
        self.notify = notify
        self.armed = armed
    }
}

/// `PATCH /v1/recordings/{recording}`. Null or absent keeps a text; an empty text removes it.
package struct RecordingTextRequest: Codable, Hashable, Sendable {
    package var name: String?
    package var note: String?

    package init(name: String? = nil, note: String? = nil) {
        self.name = name
        self.note = note
    }
}

package struct RecordingBody: Codable, Hashable, Sendable {
    /// Eight hexadecimal digits, the same on every host.
    package var id: String
    package var meter: String
    @NullCodable package var name: String?
    @NullCodable package var note: String?
    @NullCodable package var host: String?
    package var host_id: String
    /// Whether this host made the recording and has its readings.
    package var mine: Bool
    /// `running` or `ended`; a battery test may also be `waiting` for its start.
    package var state: String
    /// Kind of imported file, such as `rd-usb`; null for measurements.
    @NullCodable package var imported: String?
    /// Cause of the start: `hand` (a user) or `threshold` (the measured current).
    package var trigger: String
    package var test: BatteryTestBody?
    /// Cause of the end: `hand`, `threshold`, `cutoff`, `gap`, `load` or `settings`; null while the recording runs.
    @NullCodable package var end: String?
    /// RFC 3339, by the recording host's system clock.
    package var started: String
    /// End, or time of the last reading while the recording runs; RFC 3339.
    package var until: String
    /// Sum of `recorded_ms` and `gap_ms`.
    package var duration_ms: Int64
    package var recorded_ms: Int64
    package var readings: Int
    /// Charge and energy, signed; integrated by the host over `recorded_ms`.
    @NullCodable package var charge_mAh: Double?
    @NullCodable package var energy_Wh: Double?
    /// Cost of the energy at the meter's present tariff; absent without a tariff.
    package var cost: CostBody?
    /// Charge and energy by the meter's own counters, gaps included.
    @NullCodable package var meter_charge_mAh: Double?
    @NullCodable package var meter_energy_Wh: Double?
    @NullCodable package var voltage_V: Range?
    @NullCodable package var current_A: Range?
    @NullCodable package var power_W: Range?
    @NullCodable package var temperature_C: Range?
    package var gap_ms: Int64
    package var gap_count: Int
    /// The first 100 gaps.
    package var gaps: [Gap]
    /// Reasons why the recording may be inaccurate: `gaps`, `host-restarted`, `counter-reset`, `counter-jump`, `empty`,
    /// `imported`.
    package var marks: [String]
    /// The meter's data besides readings, at the start and at the last reading.
    @NullCodable package var told_at_start: TelemetryBody?
    @NullCodable package var told_at_end: TelemetryBody?
    package var overlaps: [String]

    /// Range of a quantity; `mean` is weighted by time.
    package struct Range: Codable, Hashable, Sendable {
        package var min: Double
        package var max: Double
        package var mean: Double

        package init(min: Double, max: Double, mean: Double) {
            self.min = min
            self.max = max
            self.mean = mean
        }
    }

    package struct Gap: Codable, Hashable, Sendable {
        /// Time of the last reading before the gap.
        package var start: String
        package var duration_ms: Int64
        /// `link` (lost), `silence` (no reading over an open link) or `host` (meterd restarted).
        package var cause: String

        package init(start: String, duration_ms: Int64, cause: String) {
            self.start = start
            self.duration_ms = duration_ms
            self.cause = cause
        }
    }

    package init(
        id: String, meter: String, host_id: String, mine: Bool, state: String, trigger: String, started: String,
        until: String
    ) {
        self.id = id
        self.meter = meter
        self.host_id = host_id
        self.mine = mine
        self.state = state
        self.trigger = trigger
        self.started = started
        self.until = until
        (duration_ms, recorded_ms, gap_ms) = (0, 0, 0)
        (readings, gap_count) = (0, 0)
        (gaps, marks, overlaps) = ([], [], [])
    }
}

/// `GET /v1/recordings`, newest first.
package struct RecordingsBody: Codable, Hashable, Sendable {
    package var recordings: [RecordingBody]

    package init(recordings: [RecordingBody]) { self.recordings = recordings }
}
