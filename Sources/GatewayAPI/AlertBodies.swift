/// `POST /v1/alerts`.
package struct AlertRequest: Codable, Hashable, Sendable {
    package var meter: String
    /// As typed: `current < 50mA for 2m`.
    package var condition: String
    /// Null or absent for none.
    package var name: String?
    /// Names of `[notify.NAME]` in the configuration; absent for none.
    package var notify: [String]?

    package init(meter: String, condition: String, name: String? = nil, notify: [String]? = nil) {
        self.meter = meter
        self.condition = condition
        self.name = name
        self.notify = notify
    }
}

/// A rule and how it stands. Unknown or not applicable is null.
package struct AlertBody: Codable, Hashable, Sendable {
    package var id: Int64
    package var meter: String
    @NullCodable package var meter_name: String?
    @NullCodable package var name: String?
    package var condition: String
    package var notify: [String]
    /// `raised`, `quiet`, or `momentary` for what happens and does not last.
    package var state: String
    /// When it was last raised, or happened: RFC 3339.
    @NullCodable package var raised_at: String?
    /// When it was last over.
    @NullCodable package var cleared_at: String?
    /// How often it was raised, or happened.
    package var count: Int64
    /// The key of the quantity that it watches.
    @NullCodable package var quantity: String?
    /// The value that raised it last; of a rate per its unit of time.
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

/// One of those that can be told, by `[notify.NAME]` in the configuration.
package struct AlertTarget: Codable, Hashable, Sendable {
    package var name: String
    /// `webhook`, `ntfy`, `gotify` or `exec`.
    package var kind: String
    /// Notices on their way.
    package var waiting: Int
    /// Delivered, and lost for lack of room or after all attempts, since the start.
    package var delivered: Int
    package var lost: Int
    /// Why the last attempt failed; null once one succeeded.
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
    /// In the order of their ids.
    package var alerts: [AlertBody]
    package var raised: Int
    package var targets: [AlertTarget]

    package init(alerts: [AlertBody], raised: Int, targets: [AlertTarget]) {
        self.alerts = alerts
        self.raised = raised
        self.targets = targets
    }
}

/// `POST /v1/alerts/{alert}/test`: what came of each notification.
package struct AlertTestBody: Codable, Hashable, Sendable {
    package struct Result: Codable, Hashable, Sendable {
        package var target: String
        package var delivered: Bool
        /// Why not; null if it was delivered.
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

/// What a webhook receives. Unknown or not applicable is null.
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

    /// What came of a battery test. Its `alert` has the id 0, its name and its cut-off.
    package struct Result: Codable, Hashable, Sendable {
        /// The id of its recording.
        package var recording: String
        /// `cutoff`, or `gap` if the meter was not heard any more.
        package var end: String
        @NullCodable package var charge_mAh: Double?
        @NullCodable package var energy_Wh: Double?
        package var duration_ms: Int64
        /// For so much of that it is unknown what flowed.
        package var gap_ms: Int64

        package init(recording: String, end: String, duration_ms: Int64, gap_ms: Int64) {
            self.recording = recording
            self.end = end
            self.duration_ms = duration_ms
            self.gap_ms = gap_ms
        }
    }

    /// Rises with each notice of a host, battery tests aside: the same number twice is the same notice, sent again. 0 for a test.
    package var number: Int64
    /// `raised`, `cleared`, `happened`, `finished` of a battery test, or `test`.
    package var event: String
    package var alert: Rule
    package var meter: Meter
    /// When it happened: RFC 3339, by the host's calendar.
    package var at: String
    /// The host's name.
    package var host: String
    @NullCodable package var quantity: String?
    @NullCodable package var value: Double?
    @NullCodable package var unit: String?
    /// The name of the host that has the meter now, where that is what happened.
    @NullCodable package var holder: String?
    /// What came of a battery test; absent for an alert.
    package var result: Result?
    /// The same for people.
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
