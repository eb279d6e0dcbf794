package struct AlertNotice: Hashable, Sendable {
    package enum Event: String, CaseIterable, Sendable {
        case raised
        case cleared
        case happened
        case finished
        case test
    }

    package var event: Event
    /// 0 for a battery test.
    package var rule: AlertID
    package var name: String?
    /// As the user typed it.
    package var condition: String
    package var meter: MeterID
    package var meterName: String?
    package var quantity: Quantity?
    /// Value that caused the event; nil for conditions without values. A rate is per the condition's unit of time.
    package var value: Double?
    package var holder: String?
    /// Result of a finished battery test; nil for other events.
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

    /// - Parameters:
    ///   - pattern: cut-off condition.
    ///   - value: value that first met it; nil if none did.
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

    /// First line of the notification: `charged: bench`.
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

    /// Second line of the notification: `current < 50mA for 2m; it is 0.043 A now`.
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

    /// Rounds to four decimals.
    private static func rounded(_ value: Double) -> String {
        guard value.magnitude < 1e9 else { return "\(value)" }
        return "\((value * 10_000).rounded() / 10_000)"
    }
}

package enum AlertDelivery: Hashable, Sendable {
    case delivered
    /// The delivery failed, but a retry may succeed.
    case failed(String)
    /// A retry is useless: the target's address or program is wrong.
    case refused(String)
}
