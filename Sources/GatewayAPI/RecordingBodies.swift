/// `POST /v1/meters/{meter}/recording`.
package struct RecordingRequest: Codable, Hashable, Sendable {
    /// What the recording is to be called; null or absent: nothing.
    package var name: String?

    package init(name: String? = nil) { self.name = name }
}

/// `PATCH /v1/recordings/{recording}`. What is null or absent stays; an empty text takes it away.
package struct RecordingTextRequest: Codable, Hashable, Sendable {
    package var name: String?
    package var note: String?

    package init(name: String? = nil, note: String? = nil) {
        self.name = name
        self.note = note
    }
}

/// A charge session, in `GET /v1/recordings` and the other routes of recordings. Unknown or not applicable is null.
package struct RecordingBody: Codable, Hashable, Sendable {
    /// Eight digits that stand for it, the same on every host.
    package var id: String
    package var meter: String
    @NullCodable package var name: String?
    @NullCodable package var note: String?
    /// The host that made it, by name, and by id.
    @NullCodable package var host: String?
    package var host_id: String
    /// It was made here, so its readings are here.
    package var mine: Bool
    /// `running` or `ended`.
    package var state: String
    /// What began it: `hand` or `threshold`.
    package var trigger: String
    /// Why it is over: `hand`, `threshold`, `gap` or `settings`; null while it goes on.
    @NullCodable package var end: String?
    /// RFC 3339, by its host's calendar.
    package var started: String
    /// Its end, or the last reading while it goes on.
    package var until: String
    /// `recorded_ms` and `gap_ms` together.
    package var duration_ms: Int64
    /// The time that is added up.
    package var recorded_ms: Int64
    package var readings: Int
    /// What flowed, added up by the host over the recorded time, with its sign.
    @NullCodable package var charge_mAh: Double?
    @NullCodable package var energy_Wh: Double?
    /// How far the meter's own counters went meanwhile, its gaps included.
    @NullCodable package var meter_charge_mAh: Double?
    @NullCodable package var meter_energy_Wh: Double?
    @NullCodable package var voltage_V: Range?
    @NullCodable package var current_A: Range?
    @NullCodable package var power_W: Range?
    @NullCodable package var temperature_C: Range?
    package var gap_ms: Int64
    package var gap_count: Int
    /// The first ones.
    package var gaps: [Gap]
    /// What to know before its numbers are believed: `gaps`, `host-restarted`, `counter-reset`, `counter-jump`, `empty`.
    package var marks: [String]
    /// Other recordings of the meter that tell of some of the same time, by id.
    package var overlaps: [String]

    /// The mean is over time.
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
        /// The last reading before it.
        package var start: String
        package var duration_ms: Int64
        /// `link`, `silence` or `host`.
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

/// `GET /v1/recordings`: the latest first.
package struct RecordingsBody: Codable, Hashable, Sendable {
    package var recordings: [RecordingBody]

    package init(recordings: [RecordingBody]) { self.recordings = recordings }
}
