/// The number of a rule, which is never given to another one of this host.
package struct AlertID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

    package var description: String { "\(rawValue)" }
}

/// What a person wants to be told about a meter of this host.
package struct AlertRule: Hashable, Sendable {
    package let id: AlertID
    package var meter: MeterID
    package let pattern: AlertPattern
    package let name: String?
    /// The names of those that hear of it, `[notify.NAME]` in the configuration.
    package let notify: [String]

    package init(id: AlertID, meter: MeterID, pattern: AlertPattern, name: String? = nil, notify: [String] = []) {
        self.id = id
        self.meter = meter
        self.pattern = pattern
        self.name = name
        self.notify = notify
    }

    /// What people call it.
    package var title: String { name ?? pattern.text }
}

/// A condition with the time for which it must hold, as a person typed it (`AlertParser`).
package struct AlertPattern: Hashable, Sendable {
    package var condition: AlertCondition
    /// The condition must hold for so long before the alert is raised.
    package var hold: Duration
    /// How far a value must go back before the alert is over; nil for the default.
    package var hysteresis: Double?
    /// As typed.
    package var text: String

    package init(_ condition: AlertCondition, hold: Duration = .zero, hysteresis: Double? = nil, text: String = "") {
        self.condition = condition
        self.hold = hold
        self.hysteresis = hysteresis
        self.text = text
    }

    /// The hysteresis in force: by default twice the last digit of the usual meter, or 1 % of the limit if that is more.
    package var hysteresisInForce: Double {
        if let hysteresis { return hysteresis }
        switch condition {
        case .level(let quantity, _, let limit): return max(2 * quantity.alertResolution, limit.magnitude / 100)
        case .rate(_, _, let rate): return rate.limit.magnitude / 100
        case .stale, .state, .holderChanges: return 0
        }
    }
}

/// What is kept of a rule over restarts.
package struct AlertStanding: Hashable, Sendable {
    package var isRaised = false
    /// When it was last raised, or last happened, by the calendar.
    package var raisedAt: WallTime?
    /// When it was last over.
    package var clearedAt: WallTime?
    /// How often it was raised, or happened.
    package var count: Int64 = 0
    /// The value that raised it last, in the quantity's unit; of a rate, in that per its unit of time.
    package var value: Double?
    /// The id of the host that had the meter last, where that matters.
    package var holder: String?

    package init() {}
}
