/// What a battery test has an electronic load do: draw a current down to a voltage, for so long at most.
///
/// The load is given all three before it is switched on, so that it ends by itself whatever becomes of the link or this host.
package struct LoadPlan: Hashable, Sendable {
    /// In milliamperes, a multiple of 10 above 0.
    package let current: Int
    /// Below so many millivolts, a multiple of 10 above 0, the load switches itself off.
    package let cutoff: Int
    /// After so many minutes it does so too; 0 for never.
    package let minutes: Int
    package let onLinkLoss: OnLinkLoss

    /// What becomes of the test when the link was lost. Meanwhile the load goes on by itself, whatever is said here.
    package enum OnLinkLoss: String, CaseIterable, Sendable {
        /// Once the load is back, the test goes on.
        case keep
        /// Once the load is back, it is switched off, and the test is over.
        case off
    }

    package init(current: Int, cutoff: Int, minutes: Int = 0, onLinkLoss: OnLinkLoss = .keep) {
        self.current = current
        self.cutoff = cutoff
        self.minutes = minutes
        self.onLinkLoss = onLinkLoss
    }

    /// Why texts are no plan.
    package struct Problem: Error, Hashable, Sendable {
        package let message: String
        package let next: String
    }

    /// Reads what people type.
    ///
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

    /// A number with `A`, `mA`, `V`, `mV` or none of them, in thousandths; nil for anything else, and between the steps of ten.
    private static func steps(of text: String, unit: String, most: Int) -> Int? {
        guard let amount = Double(amount: text.lowercased(), unit: unit).map({ $0 * 1000 }), amount <= Double(most)
        else {
            return nil
        }
        let thousandths = Int(amount.rounded())
        // 1.234 A would be set as something else than was said.
        guard abs(amount - Double(thousandths)) < 1e-6, thousandths >= 10, thousandths.isMultiple(of: 10) else {
            return nil
        }
        return thousandths
    }

    /// The cut-off of a test where the person gave none: the load has switched itself off, at its own cut-off or time, or
    /// draws less than half of what it should, as of a source that gives no more.
    package var until: String { "current < \(current / 2)mA for 10s" }

    /// What to tell the load, in this order. It is off while it is set, and on last of all.
    package var orders: [MeterCommand] {
        [
            MeterCommand(.loadOff), MeterCommand(.loadCutoff, cutoff), MeterCommand(.loadTimer, minutes),
            MeterCommand(.loadCurrent, current), MeterCommand(.loadOn),
        ]
    }

    /// In words, for the log: `1.50 A down to 3.00 V, 480 min at most`.
    package var words: String {
        func hundredths(_ value: Int) -> String {
            let rest = value % 1000 / 10
            return "\(value / 1000).\(rest < 10 ? "0" : "")\(rest)"
        }
        return "\(hundredths(current)) A down to \(hundredths(cutoff)) V"
            + (minutes > 0 ? ", \(minutes) min at most" : "")
    }
}

/// What a load says of itself.
package struct LoadView: Hashable, Sendable {
    package var isOn: Bool
    /// In milliamperes and millivolts; nil while it has not said.
    package var current: Int?
    package var cutoff: Int?

    package init(isOn: Bool, current: Int? = nil, cutoff: Int? = nil) {
        self.isOn = isOn
        self.current = current
        self.cutoff = cutoff
    }

    /// - Parameter told: what the meter tells besides readings.
    /// - Returns: nil for another meter, and for one that has not said whether it is on.
    package init?(_ told: ToldBody?) {
        guard let told, case .flag(let isOn)? = told.details["load_on"] else { return nil }
        func thousandths(_ key: String) -> Int? {
            guard case .number(let value)? = told.details[key], value.magnitude < 1e6 else { return nil }
            return Int((value * 1000).rounded())
        }
        self.init(isOn: isOn, current: thousandths("set_current_A"), cutoff: thousandths("cutoff_V"))
    }
}
