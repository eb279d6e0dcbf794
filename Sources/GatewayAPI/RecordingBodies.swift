package import Domain

/// `POST /v1/meters/{meter}/recording`.
package struct RecordingRequest: Codable, Hashable, Sendable {
    /// The name of the recording; null or absent for none.
    package var name: String?
    /// The cut-off that makes it a battery test: `current < 50mA for 30s`.
    package var until: String?
    /// With `until`: it begins when the current is as large, `0.1` or `100mA`; absent for at once.
    package var start_above: String?
    /// With `until`: who is told when it is over, by names of `[notify.NAME]` in the configuration.
    package var notify: [String]?
    /// Makes it a battery test whose meter is an electronic load, which is set, switched on now, and off at the end. `until`
    /// may be absent then: the test is over once the load has switched itself off.
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

/// What a load is to do in a battery test, as people type it.
package struct LoadRequest: Codable, Hashable, Sendable {
    /// What it draws: `1.5A`, `1500mA`.
    package var current: String
    /// Below which voltage it switches itself off: `3.0V`.
    package var cutoff: String
    /// After which time it does so too: `8h`, `90m`; absent for never.
    package var limit: String?
    /// `keep`, as if absent: once a lost link is back, the test goes on. `off`: the load is switched off then.
    package var on_link_loss: String?

    package init(current: String, cutoff: String, limit: String? = nil, on_link_loss: String? = nil) {
        self.current = current
        self.cutoff = cutoff
        self.limit = limit
        self.on_link_loss = on_link_loss
    }
}

/// The load of a battery test.
package struct LoadBody: Codable, Hashable, Sendable {
    package var current_A: Double
    package var cutoff_V: Double
    /// Null for no limit.
    @NullCodable package var limit_ms: Int64?
    /// `keep` or `off`.
    package var on_link_loss: String
    /// `preparing`, `drawing`, `away` (the link is lost, and it goes on by itself), `ending` (it is to be switched off) or `over`.
    package var state: String
    /// What a person should know; null while all is well.
    @NullCodable package var problem: String?

    package init(current_A: Double, cutoff_V: Double, limit_ms: Int64?, on_link_loss: String, state: String) {
        self.current_A = current_A
        self.cutoff_V = cutoff_V
        self.on_link_loss = on_link_loss
        self.state = state
        self.limit_ms = limit_ms
    }
}

/// What makes a recording a battery test.
package struct BatteryTestBody: Codable, Hashable, Sendable {
    /// The cut-off, as typed.
    package var until: String
    /// Amperes from which on it is recorded; null if it began at once.
    @NullCodable package var start_above_A: Double?
    /// Who is told when it is over.
    package var notify: [String]
    /// Whether a value on the other side of the cut-off was seen. Before that, it does not end.
    package var armed: Bool
    /// The key of the quantity of the cut-off.
    @NullCodable package var quantity: String?
    /// The value with which the cut-off began to hold; null unless it ended the test.
    @NullCodable package var value: Double?
    /// The load that it drives; absent without one.
    package var load: LoadBody?

    package init(until: String, notify: [String], armed: Bool) {
        self.until = until
        self.notify = notify
        self.armed = armed
    }
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
    /// `running` or `ended`; of a battery test also `waiting`, for its start.
    package var state: String
    /// The kind of file that its readings came from, such as `rd-usb`; null for what was measured by this program.
    @NullCodable package var imported: String?
    /// What started it: `hand` or `threshold`.
    package var trigger: String
    /// What makes it a battery test; absent for any other recording.
    package var test: BatteryTestBody?
    /// Why it ended: `hand`, `threshold`, `cutoff`, `gap`, `load` or `settings`; null while it is running.
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
    /// What that energy costs at its meter's present tariff; absent without one.
    package var cost: CostBody?
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
