/// `POST /v1/alerts`.
package struct AlertRequest: Codable, Hashable, Sendable {
    package var meter: String
    /// The condition as typed, such as `current < 50mA for 2m`.
    package var condition: String
    package var name: String?
    /// Notification targets: the NAMEs of `[notify.NAME]` in the configuration.
    package var notify: [String]?

    package init(meter: String, condition: String, name: String? = nil, notify: [String]? = nil) {
        self.meter = meter
        self.condition = condition
        self.name = name
        self.notify = notify
    }
}

package struct AlertBody: Codable, Hashable, Sendable {
    package var id: Int64
    package var meter: String
    @NullCodable package var meter_name: String?
    @NullCodable package var name: String?
    package var condition: String
    package var notify: [String]
    /// `raised` or `quiet`; `momentary` for a rule about single events; `broken` for a condition that this version of
    /// meterd cannot parse.
    package var state: String
    /// The condition as meterd understood it, and whether it is met now, in words; only in the answer to `POST`.
    package var verdict: String?
    /// Time of the last raise or event, RFC 3339.
    @NullCodable package var raised_at: String?
    /// Time of the last clearing, RFC 3339.
    @NullCodable package var cleared_at: String?
    package var count: Int64
    @NullCodable package var quantity: String?
    /// Last value that raised the alert; a rate of change is per the condition's unit of time.
    @NullCodable package var value: Double?

    package init(id: Int64, meter: String, condition: String, notify: [String], state: String, count: Int64) {
        self.id = id
        self.meter = meter
        self.condition = condition
        self.notify = notify
        self.state = state
        self.count = count
    }
}

/// A notification target, `[notify.NAME]` in the configuration.
package struct AlertTarget: Codable, Hashable, Sendable {
    package var name: String
    /// `webhook`, `ntfy`, `gotify` or `exec`.
    package var kind: String
    package var waiting: Int
    /// Notices delivered since meterd started. `lost` counts those dropped for lack of room or after the last attempt.
    package var delivered: Int
    package var lost: Int
    @NullCodable package var error: String?

    package init(name: String, kind: String, waiting: Int, delivered: Int, lost: Int, error: String?) {
        self.name = name
        self.kind = kind
        self.waiting = waiting
        self.delivered = delivered
        self.lost = lost
        self.error = error
    }
}

/// `GET /v1/alerts`.
package struct AlertsBody: Codable, Hashable, Sendable {
    package var alerts: [AlertBody]
    package var raised: Int
    package var targets: [AlertTarget]

    package init(alerts: [AlertBody], raised: Int, targets: [AlertTarget]) {
        self.alerts = alerts
        self.raised = raised
        self.targets = targets
    }
}

/// Answer to `POST /v1/alerts/{alert}/test`.
package struct AlertTestBody: Codable, Hashable, Sendable {
    package struct Result: Codable, Hashable, Sendable {
        package var target: String
        package var delivered: Bool
        @NullCodable package var error: String?

        package init(target: String, delivered: Bool, error: String?) {
            self.target = target
            self.delivered = delivered
            self.error = error
        }
    }

    package var results: [Result]

    package init(results: [Result]) { self.results = results }
}

/// Body of a webhook's request.
package struct AlertNoticeBody: Codable, Hashable, Sendable {
    package struct Rule: Codable, Hashable, Sendable {
        package var id: Int64
        @NullCodable package var name: String?
        package var condition: String

        package init(id: Int64, name: String?, condition: String) {
            self.id = id
            self.name = name
            self.condition = condition
        }
    }

    package struct Meter: Codable, Hashable, Sendable {
        package var id: String
        @NullCodable package var name: String?

        package init(id: String, name: String?) {
            self.id = id
            self.name = name
        }
    }

    /// Result of a battery test. The notice's `alert` then has the id 0, the test's name and its cut-off.
    package struct Result: Codable, Hashable, Sendable {
        package var recording: String
        /// `cutoff`, or `gap` if the meter sent no more readings.
        package var end: String
        @NullCodable package var charge_mAh: Double?
        @NullCodable package var energy_Wh: Double?
        package var duration_ms: Int64
        /// Part of `duration_ms` without readings.
        package var gap_ms: Int64

        package init(recording: String, end: String, duration_ms: Int64, gap_ms: Int64) {
            self.recording = recording
            self.end = end
            self.duration_ms = duration_ms
            self.gap_ms = gap_ms
        }
    }

    /// Number of the notice on this host, unchanged if resent. 0 if a user tests the alert; for a battery test, the
    /// test's start in milliseconds since 1970.
    package var number: Int64
    /// `raised`, `cleared`, `happened`, `finished` (a battery test) or `test`.
    package var event: String
    package var alert: Rule
    package var meter: Meter
    /// Time of the event by the host's system clock, RFC 3339.
    package var at: String
    package var host: String
    @NullCodable package var quantity: String?
    @NullCodable package var value: Double?
    @NullCodable package var unit: String?
    /// New holder's name, after a change of holder.
    @NullCodable package var holder: String?
    package var result: Result?
    /// Headline of the notice, not for parsing; `message` is its text.
    package var title: String
    package var message: String

    package init(
        number: Int64, event: String, alert: Rule, meter: Meter, at: String, host: String, title: String,
        message: String
    ) {
        self.number = number
        self.event = event
        self.alert = alert
        self.meter = meter
        self.at = at
        self.host = host
        self.title = title
        self.message = message
    }
}
