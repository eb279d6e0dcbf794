package enum AlertCondition: Hashable, Sendable {
    case level(Quantity, AlertComparison, Double)
    case rate(Quantity, AlertComparison, AlertRate)
    /// The meter has sent no reading for the hold time.
    case stale
    /// The connection is in this state or, if `isIt` is false, in any other.
    case state(ConnectionState, isIt: Bool)
    /// Another host than the last holder holds the meter: an event without duration.
    case holderChanges
    /// A stored condition that this version cannot parse. It is never met.
    case broken

    /// Nil for conditions without values.
    package var quantity: Quantity? {
        switch self {
        case .level(let quantity, _, _), .rate(let quantity, _, _): quantity
        case .stale, .state, .holderChanges, .broken: nil
        }
    }

    /// Nil for conditions other than `level`, and for a reading without the value.
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

    /// Window for computing the rate: long enough to hide jitter of a meter's last digit.
    package var window: Duration {
        switch per {
        case .second: .seconds(10)
        case .minute: .seconds(60)
        case .hour: .seconds(600)
        }
    }
}

extension Quantity {
    /// Word in users' rules: the key without the unit.
    package var alertWord: String { word.replacing("_", with: "-") }

    /// Resolution of a typical meter, for the default hysteresis.
    package var alertResolution: Double {
        switch self {
        case .voltage, .dataPlus, .dataMinus, .cc1, .cc2, .supplyVoltage: 0.01
        case .current, .power, .energy, .countedEnergy, .ratio: 0.001
        case .charge, .countedCharge, .temperature, .duration: 1
        case .resistance, .frequency: 0.1
        case .powerFactor, .price: 0.01
        }
    }

    func alertValue(in reading: Reading) -> Double? {
        reading[self].map { isAlertedBySize ? $0.magnitude : $0 }
    }

    /// Whether rules ignore the direction of the current, as recordings do.
    package var isAlertedBySize: Bool { self == .current || self == .power }
}
