/// Id of an alert rule, unique on this host and never reused.
package struct AlertID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

    package var description: String { "\(rawValue)" }
}

package struct AlertRule: Hashable, Sendable {
    package let id: AlertID
    package var meter: MeterID
    package let pattern: AlertPattern
    package let name: String?
    /// Targets: names of `[notify.NAME]` in the configuration.
    package let notify: [String]

    package init(id: AlertID, meter: MeterID, pattern: AlertPattern, name: String? = nil, notify: [String] = []) {
        self.id = id
        self.meter = meter
        self.pattern = pattern
        self.name = name
        self.notify = notify
    }

    package var title: String { name ?? pattern.text }
}

package struct AlertPattern: Hashable, Sendable {
    package var condition: AlertCondition
    package var hold: Duration
    /// Distance by which a value must return before the alert ends; nil for the default.
    package var hysteresis: Double?
    /// As the user typed it.
    package var text: String

    package init(_ condition: AlertCondition, hold: Duration = .zero, hysteresis: Double? = nil, text: String = "") {
        self.condition = condition
        self.hold = hold
        self.hysteresis = hysteresis
        self.text = text
    }

    /// Default for a level: twice the resolution of a typical meter or, if that is more, 1 % of the limit; for a rate:
    /// 1 % of the limit.
    package var hysteresisInForce: Double {
        if let hysteresis { return hysteresis }
        switch condition {
        case .level(let quantity, _, let limit): return max(2 * quantity.alertResolution, limit.magnitude / 100)
        case .rate(_, _, let rate): return rate.limit.magnitude / 100
        case .stale, .state, .holderChanges, .broken: return 0
        }
    }

    /// Returns what the condition was understood as and whether it is met now: `current below 50 mA for 2m; it is
    /// 0.34 A now, so the condition is not met`.
    ///
    /// - Parameters:
    ///   - reading: the meter's present reading; nil without data.
    ///   - state: nil if unknown.
    package func verdict(on reading: Reading?, _ state: ConnectionState?) -> String {
        let lasting = hold > .zero ? " for \(hold.shortText)" : ""
        func verdict(_ isMet: Bool) -> String {
            isMet ? "so the condition is met already" : "so the condition is not met"
        }
        switch condition {
        case .level(let quantity, let comparison, let limit):
            let words = "\(quantity.alertWord) \(comparison) \(quantity.amountText(limit))\(lasting)"
            guard let level = reading.flatMap({ condition.level(in: $0) }) else {
                return "\(words); the meter does not report it now"
            }
            return "\(words); it is \(quantity.amountText(level.value)) now, \(verdict(level.isMet))"
        case .rate(let quantity, let comparison, let rate):
            let limit = quantity.amountText(rate.limit)
            return "rate of \(quantity.alertWord) \(comparison) \(limit)/\(rate.per.rawValue)\(lasting); "
                + "it is known after \(rate.window.shortText) of readings"
        case .state(let wanted, let isIt):
            let words = "state \(isIt ? "" : "other than ")\(wanted.rawValue)\(lasting)"
            return state.map { "\(words); it is \($0.rawValue) now, \(verdict(($0 == wanted) == isIt))" } ?? words
        case .stale: return "no reading\(lasting)"
        case .holderChanges, .broken: return text
        }
    }
}

extension Quantity {
    /// Returns a value with its unit, in thousandths of the unit below 0.1: `50 mA`, `5.25 V`.
    func amountText(_ value: Double) -> String {
        let isSmall = ["A", "V", "W", "Wh"].contains(unit) && value != 0 && value.magnitude < 0.1
        let rounded = (value * (isSmall ? 1000 : 1) * 10_000).rounded() / 10_000
        let unit = (isSmall ? "m" : "") + unit
        return rounded.plainText + (unit.isEmpty ? "" : " \(unit)")
    }
}

/// State of a rule, kept over restarts.
package struct AlertSnapshot: Hashable, Sendable {
    package var isRaised = false
    /// Last time at which the alert was raised, or an event happened.
    package var raisedAt: WallTime?
    package var clearedAt: WallTime?
    package var count: Int64 = 0
    /// Value that last raised the alert, in the quantity's unit; a rate is per the condition's unit of time.
    package var value: Double?
    /// Host id of the last holder, for `holderChanges`.
    package var holder: String?

    package init() {}
}
