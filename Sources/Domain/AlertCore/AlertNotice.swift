/// What somebody is told: that an alert was raised, is over, or happened. Facts alone; each way of telling has its own form.
package struct AlertNotice: Hashable, Sendable {
    package enum Event: String, CaseIterable, Sendable {
        case raised
        case cleared
        /// The meter changed hands.
        case happened
        /// A battery test is over.
        case finished
        /// Somebody tries whether notifications arrive.
        case test
    }

    package var event: Event
    /// 0 for a battery test, which has none.
    package var rule: AlertID
    package var name: String?
    /// The condition as it was typed.
    package var condition: String
    package var meter: MeterID
    /// The name that a person gave the meter.
    package var meterName: String?
    package var quantity: Quantity?
    /// The value that did it, if a value did; of a rate per its unit of time.
    package var value: Double?
    /// The name of the host that has the meter now, where that is what happened.
    package var holder: String?
    /// What came of a battery test, where that is over.
    package var result: TestResult?
    package var at: WallTime

    package init(_ event: Event, _ rule: AlertRule, meterName: String? = nil, value: Double? = nil, at: WallTime) {
        self.event = event
        self.rule = rule.id
        name = rule.name
        condition = rule.pattern.text
        meter = rule.meter
        self.meterName = meterName
        quantity = rule.pattern.condition.quantity
        self.value = value
        self.at = at
    }

    /// A battery test is over.
    ///
    /// - Parameters:
    ///   - pattern: its cut-off.
    ///   - value: with which the cut-off began to hold; nil if it was not reached.
    package init(
        _ result: TestResult, _ pattern: AlertPattern, name: String?, of meter: MeterID, value: Double?, at: WallTime
    ) {
        event = .finished
        rule = AlertID(rawValue: 0)
        self.name = name
        condition = pattern.text
        self.meter = meter
        quantity = pattern.condition.quantity
        self.value = value
        self.result = result
        self.at = at
    }

    // MARK: For people

    /// One line: `charged: bench`.
    package var title: String {
        let what = (name ?? condition).visible
        let meter = (meterName ?? "\(meter)").visible
        return switch event {
        case .raised, .happened: "\(what): \(meter)"
        case .cleared: "over: \(what): \(meter)"
        case .finished: "battery test over: \(name.map { "\($0.visible), " } ?? "")\(meter)"
        case .test: "test: \(what): \(meter)"
        }
    }

    /// One more: `current < 50mA for 2m; it is 0.043 A now`.
    package var message: String {
        let unit = quantity?.unit ?? ""
        let shown = value.map { "; it is \(Self.rounded($0))\(unit.isEmpty ? "" : " \(unit)") now" } ?? ""
        switch event {
        case .raised: return condition.visible + shown
        case .cleared: return "\(condition.visible) is over\(shown)"
        case .happened: return "the meter changed hands\(holder.map { ": \($0.visible) has it now" } ?? "")"
        case .finished: return "\(result?.message ?? "it is over"). Its cut-off: \(condition.visible)"
        case .test: return "this is a test of \(condition.visible)"
        }
    }

    /// With four decimals at most.
    private static func rounded(_ value: Double) -> String {
        guard value.magnitude < 1e9 else { return "\(value)" }
        return "\((value * 10_000).rounded() / 10_000)"
    }
}

/// What came of telling somebody.
package enum AlertDelivery: Hashable, Sendable {
    case delivered
    /// It may work later.
    case failed(String)
    /// It would be the same later: the address or the program is wrong.
    case refused(String)
}
