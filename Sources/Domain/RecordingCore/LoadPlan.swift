/// Settings of the load in a battery test.
///
/// The load receives all limits before it is switched on, so that it stops by itself if the link or this host fails.
package struct LoadPlan: Hashable, Sendable {
    /// Milliamperes; a multiple of 10 above 0.
    package let current: Int
    /// Millivolts below which the load switches itself off; a multiple of 10 above 0.
    package let cutoff: Int
    /// Minutes after which the load switches itself off; 0 for never.
    package let minutes: Int
    package let onLinkLoss: OnLinkLoss

    /// Reaction to a lost link. In both cases the load keeps drawing until the link is back.
    package enum OnLinkLoss: String, CaseIterable, Sendable {
        /// Continue the test.
        case keep
        /// End the test and switch the load off once the link is back.
        case off
    }

    package init(current: Int, cutoff: Int, minutes: Int = 0, onLinkLoss: OnLinkLoss = .keep) {
        self.current = current
        self.cutoff = cutoff
        self.minutes = minutes
        self.onLinkLoss = onLinkLoss
    }

    package struct Problem: Error, Hashable, Sendable {
        package let message: String
        package let next: String
    }

    /// - Parameters:
    ///   - current: `1.5A` or `1500mA`, in steps of 10 mA.
    ///   - cutoff: `3.0V` or `3000mV`, in steps of 10 mV.
    ///   - limit: `8h` or `90m`, in whole minutes; nil for none.
    ///   - onLinkLoss: `keep` or `off`; nil for `keep`.
    package init(
        current: String, cutoff: String, limit: String? = nil, onLinkLoss: String? = nil
    ) throws(Problem) {
        guard let milliamperes = Self.steps(of: current, unit: "a", most: 40_000) else {
            throw Problem(
                message: "\"\(current.prefix(40).visible)\" is not a current to draw",
                next: "it takes 10mA to 40A in steps of 10 mA, such as 1.5A")
        }
        guard let millivolts = Self.steps(of: cutoff, unit: "v", most: 200_000) else {
            throw Problem(
                message: "\"\(cutoff.prefix(40).visible)\" is not a voltage at which the load stops",
                next: "it takes 10mV to 200V in steps of 10 mV, such as 3.0V")
        }
        var minutes = 0
        if let limit {
            guard let time = Duration(shortText: limit), time >= .seconds(60), time <= .seconds(1092 * 60),
                time.milliseconds.isMultiple(of: 60_000)
            else {
                throw Problem(
                    message: "\"\(limit.prefix(40).visible)\" is not a time after which the load stops",
                    next: "it takes whole minutes from 1m to 1092m, such as 8h")
            }
            minutes = Int(time.milliseconds / 60_000)
        }
        guard let loss = OnLinkLoss(rawValue: onLinkLoss ?? OnLinkLoss.keep.rawValue) else {
            throw Problem(
                message: "\"\(onLinkLoss?.prefix(40).visible ?? "")\" does not say what becomes of the test",
                next: "it takes keep, to go on when the link is back, or off, to switch the load off then")
        }
        self.init(current: milliamperes, cutoff: millivolts, minutes: minutes, onLinkLoss: loss)
    }

    /// Parses an amount such as `1.5A` or `1500mA` and returns thousandths of `unit`. Nil if the result exceeds `most`
    /// or is not a positive multiple of 10.
    private static func steps(of text: String, unit: String, most: Int) -> Int? {
        guard let amount = Double(amount: text.lowercased(), unit: unit).map({ $0 * 1000 }), amount <= Double(most)
        else {
            return nil
        }
        let thousandths = Int(amount.rounded())
        // Reject 1.234 A, for example: the load would use another value.
        guard abs(amount - Double(thousandths)) < 1e-6, thousandths >= 10, thousandths.isMultiple(of: 10) else {
            return nil
        }
        return thousandths
    }

    /// Default cut-off, met if the load has switched itself off or a weak source supplies less than half of the set
    /// current.
    package var until: String { "current < \(current / 2)mA for 10s" }

    /// Commands that set up the load while it is off, and then switch it on.
    package var orders: [MeterCommand] {
        [
            MeterCommand(.loadOff), MeterCommand(.loadCutoff, cutoff), MeterCommand(.loadTimer, minutes),
            MeterCommand(.loadCurrent, current), MeterCommand(.loadOn),
        ]
    }

    /// For the log: `1.50 A down to 3.00 V, 480 min at most`.
    package var words: String {
        func hundredths(_ value: Int) -> String {
            let rest = value % 1000 / 10
            return "\(value / 1000).\(rest < 10 ? "0" : "")\(rest)"
        }
        return "\(hundredths(current)) A down to \(hundredths(cutoff)) V"
            + (minutes > 0 ? ", \(minutes) min at most" : "")
    }
}

/// State reported by a load.
package struct LoadView: Hashable, Sendable {
    package var isOn: Bool
    /// Current in milliamperes and cut-off in millivolts, as set on the load; nil until reported.
    package var current: Int?
    package var cutoff: Int?

    package init(isOn: Bool, current: Int? = nil, cutoff: Int? = nil) {
        self.isOn = isOn
        self.current = current
        self.cutoff = cutoff
    }

    /// Nil for other meters, and for a load that has not reported whether it is on.
    package init?(_ told: TelemetryBody?) {
        guard let told, case .flag(let isOn)? = told.details["load_on"] else { return nil }
        func thousandths(_ key: String) -> Int? {
            guard case .number(let value)? = told.details[key], value.magnitude < 1e6 else { return nil }
            return Int((value * 1000).rounded())
        }
        self.init(isOn: isOn, current: thousandths("set_current_A"), cutoff: thousandths("cutoff_V"))
    }
}
