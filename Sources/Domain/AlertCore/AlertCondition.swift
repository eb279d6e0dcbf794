/// What a rule watches for.
package enum AlertCondition: Hashable, Sendable {
    /// A value is above or below a limit.
    case level(Quantity, AlertComparison, Double)
    /// A value changes faster or slower than a limit.
    case rate(Quantity, AlertComparison, AlertRate)
    /// No reading came.
    case stale
    /// The meter is in a state or, if `isIt` is false, in any other one.
    case state(ConnectionState, isIt: Bool)
    /// Another host has the meter than the last one that had it. This happens; it does not last.
    case holderChanges

    /// The quantity whose values decide, if values do.
    package var quantity: Quantity? {
        switch self {
        case .level(let quantity, _, _), .rate(let quantity, _, _): quantity
        case .stale, .state, .holderChanges: nil
        }
    }

    /// What a reading says about a level: the value, and whether it is on the wanted side of the limit.
    ///
    /// - Returns: nil for other kinds of condition, and where the reading does not have the value.
    package func level(in reading: Reading) -> (value: Double, isMet: Bool)? {
        guard case .level(let quantity, let comparison, let limit) = self,
            let value = quantity.alertValue(in: reading)
        else { return nil }
        return (value, comparison.holds(value, limit))
    }

    /// Whether it is something that happens in a moment and cannot be over later.
    package var isMomentary: Bool { self == .holderChanges }
}

package enum AlertComparison: Hashable, Sendable {
    case above
    case below

    func holds(_ value: Double, _ limit: Double) -> Bool { self == .above ? value > limit : value < limit }

    /// Whether a value is back on the quiet side, by at least the hysteresis.
    func isBack(_ value: Double, _ limit: Double, by hysteresis: Double) -> Bool {
        self == .above ? value <= limit - hysteresis : value >= limit + hysteresis
    }
}

/// How fast a value changes, as people say it: so much per second, minute or hour.
package struct AlertRate: Hashable, Sendable {
    package enum Per: String, CaseIterable, Sendable {
        case second = "s"
        case minute = "min"
        case hour = "h"
    }

    package var limit: Double
    package var per: Per

    package init(_ limit: Double, per: Per) {
        self.limit = limit
        self.per = per
    }

    /// The unit of time, in seconds.
    var seconds: Double {
        switch per {
        case .second: 1
        case .minute: 60
        case .hour: 3600
        }
    }

    /// The time over which the change is measured: long enough that a meter's last digit does not decide.
    package var window: Duration {
        switch per {
        case .second: .seconds(10)
        case .minute: .seconds(60)
        case .hour: .seconds(600)
        }
    }
}

extension Quantity {
    /// What a person types for it: its key without the unit.
    package var alertWord: String { word.replacing("_", with: "-") }

    /// The last digit that the usual meter shows, for the hysteresis of a rule that names none.
    package var alertResolution: Double {
        switch self {
        case .voltage, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage: 0.01
        case .current, .power, .energy, .countedEnergy: 0.001
        case .charge, .countedCharge, .temperature, .duration: 1
        case .resistance, .frequency: 0.1
        case .powerFactor, .price: 0.01
        }
    }

    /// The value that is compared.
    func alertValue(in reading: Reading) -> Double? {
        reading[self].map { isAlertedBySize ? $0.magnitude : $0 }
    }

    /// Whether only the size counts, whichever way it flows, as for recordings.
    package var isAlertedBySize: Bool { self == .current || self == .power }
}
