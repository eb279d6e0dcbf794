package enum AlertCondition: Hashable, Sendable {
    case level(Quantity, AlertComparison, Double)
    case rate(Quantity, AlertComparison, AlertRate)
    /// No reading came.
    case stale
    /// In a state or, if `isIt` is false, in any other one.
    case state(ConnectionState, isIt: Bool)
    /// Another host has the meter than the last holder. An event without duration.
    case holderChanges

    /// Quantity of the values; nil for conditions without values.
    package var quantity: Quantity? {
        switch self {
        case .level(let quantity, _, _), .rate(let quantity, _, _): quantity
        case .stale, .state, .holderChanges: nil
        }
    }

    /// Judges a reading's value. Nil for other conditions, and without the value.
    package func level(in reading: Reading) -> (value: Double, isMet: Bool)? {
        guard case .level(let quantity, let comparison, let limit) = self,
            let value = quantity.alertValue(in: reading)
        else { return nil }
        return (value, comparison.holds(value, limit))
    }

    package var isMomentary: Bool { self == .holderChanges }
}

package enum AlertComparison: Hashable, Sendable {
    case above
    case below

    func holds(_ value: Double, _ limit: Double) -> Bool { self == .above ? value > limit : value < limit }

    /// Whether a value is back on the quiet side by at least the hysteresis.
    func isBack(_ value: Double, _ limit: Double, by hysteresis: Double) -> Bool {
        self == .above ? value <= limit - hysteresis : value >= limit + hysteresis
    }
}

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

    var seconds: Double {
        switch per {
        case .second: 1
        case .minute: 60
        case .hour: 3600
        }
    }

    /// Long enough to hide jitter of a meter's last digit.
    package var window: Duration {
        switch per {
        case .second: .seconds(10)
        case .minute: .seconds(60)
        case .hour: .seconds(600)
        }
    }
}

extension Quantity {
    /// The word that users type: the key without the unit.
    package var alertWord: String { word.replacing("_", with: "-") }

    /// Last digit of the usual meter, for the default hysteresis.
    package var alertResolution: Double {
        switch self {
        case .voltage, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage: 0.01
        case .current, .power, .energy, .countedEnergy: 0.001
        case .charge, .countedCharge, .temperature, .duration: 1
        case .resistance, .frequency: 0.1
        case .powerFactor, .price: 0.01
        }
    }

    func alertValue(in reading: Reading) -> Double? {
        reading[self].map { isAlertedBySize ? $0.magnitude : $0 }
    }

    /// Whether only the magnitude counts, for either direction, as in recordings.
    package var isAlertedBySize: Bool { self == .current || self == .power }
}
