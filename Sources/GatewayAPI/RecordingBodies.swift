package import MeterModel

/// `POST /v1/meters/{meter}/recording`.
package struct RecordingRequest: Codable, Hashable, Sendable {
    /// The name of the recording; null or absent for none.
    package var name: String?

    package init(name: String? = nil) { self.name = name }
}

/// `PATCH /v1/recordings/{recording}`. Null or absent leaves a text as it is; an empty text removes it.
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
    /// The eight digits that stand for it, the same on every host.
    package var id: String
    package var meter: String
    @NullCodable package var name: String?
    @NullCodable package var note: String?
    /// The name and id of the host that made it.
    @NullCodable package var host: String?
    package var host_id: String
    /// It was made here, so its readings are here.
    package var mine: Bool
    /// `running` or `ended`.
    package var state: String
    /// The kind of file that its readings came from, such as `rd-usb`; null for what was measured by this program.
    @NullCodable package var imported: String?
    /// What started it: `hand` or `threshold`.
    package var trigger: String
    /// Why it ended: `hand`, `threshold`, `gap` or `settings`; null while it is running.
    @NullCodable package var end: String?
    /// RFC 3339, by its host's calendar.
    package var started: String
    /// Its end, or the last reading while it is running.
    package var until: String
    /// `recorded_ms` and `gap_ms` together.
    package var duration_ms: Int64
    /// The time integrated.
    package var recorded_ms: Int64
    package var readings: Int
    /// What flowed, integrated by the host over the recorded time, with its sign.
    @NullCodable package var charge_mAh: Double?
    @NullCodable package var energy_Wh: Double?
    /// How far the meter's own counters advanced, including gaps.
    @NullCodable package var meter_charge_mAh: Double?
    @NullCodable package var meter_energy_Wh: Double?
    @NullCodable package var voltage_V: Range?
    @NullCodable package var current_A: Range?
    @NullCodable package var power_W: Range?
    @NullCodable package var temperature_C: Range?
    package var gap_ms: Int64
    package var gap_count: Int
    /// The first gaps.
    package var gaps: [Gap]
    /// What to know before believing its numbers: `gaps`, `host-restarted`, `counter-reset`, `counter-jump`, `empty`,
    /// `imported`.
    package var marks: [String]
    /// What the meter told besides readings when the recording began, and at its last reading; null where it told nothing.
    @NullCodable package var told_at_start: ToldBody?
    @NullCodable package var told_at_end: ToldBody?
    /// Ids of the meter's recordings that overlap with it.
    package var overlaps: [String]

    /// The mean is weighted by time.
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
        /// The last reading before the gap.
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
