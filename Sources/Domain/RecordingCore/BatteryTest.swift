package struct BatteryTest: Hashable, Sendable {
    /// Cut-off that ends the test: a value above or below a limit. It applies only after a value on the other side, so
    /// a test may begin before the battery is inserted.
    package let until: AlertPattern
    /// Current in amperes, in either direction, that starts the test once it has flowed for the hold time. Nil to start
    /// immediately.
    package let startAbove: Double?
    /// Names of `[notify.NAME]` in the configuration.
    package let notify: [String]
    package internal(set) var isWaiting: Bool
    /// Whether the cut-off applies: a value on the other side of its limit was measured.
    package internal(set) var isArmed = false
    /// First value that met the cut-off; nil until the cut-off ends the test.
    package internal(set) var value: Double?
    /// Load that the test controls; nil if another device charges or discharges the battery.
    package var load: LoadSnapshot?

    /// Default hold time of a cut-off, so that a single wrong reading does not end the test.
    package static let holdDefault = Duration.seconds(10)
    package static let legal = "for example \"current < 50mA for 30s\" or \"voltage < 3.0V for 10s\""

    /// - Parameters:
    ///   - until: cut-off that ends the test: a value above or below a limit, in the syntax of `AlertParser`.
    ///   - isStored: whether the cut-off may lack units, as those that earlier versions stored.
    package init(
        until: String, startAbove: Double? = nil, notify: [String] = [], load: LoadPlan? = nil, isStored: Bool = false
    ) throws(AlertSyntaxError) {
        var pattern = try AlertParser.pattern(until, isStored: isStored)
        guard case .level = pattern.condition else {
            throw AlertSyntaxError("only a value above or below a limit ends a battery test", next: Self.legal)
        }
        guard pattern.hysteresis == nil else {
            throw AlertSyntaxError("a cut-off has no hysteresis", next: Self.legal)
        }
        if pattern.hold == .zero {
            pattern.hold = Self.holdDefault
            pattern.text += " for \(Self.holdDefault.shortText)"
        }
        self.until = pattern
        self.startAbove = startAbove
        self.notify = notify
        isWaiting = startAbove != nil
        self.load = load.map { LoadSnapshot($0) }
    }
}

package struct LoadSnapshot: Hashable, Sendable {
    package let plan: LoadPlan
    package var phase: LoadDrive.Phase
    /// Problem to show to the user; nil if there is none.
    package var problem: String?

    package init(_ plan: LoadPlan, phase: LoadDrive.Phase = .preparing, problem: String? = nil) {
        self.plan = plan
        self.phase = phase
        self.problem = problem
    }

    /// Whether the test continues without a link, because the load keeps drawing current by itself.
    var outlastsSilence: Bool { plan.onLinkLoss == .keep && (phase == .drawing || phase == .away) }
}

extension Recording {
    package var isWaiting: Bool { test?.isWaiting ?? false }

    /// Result of a battery test that ended by itself; nil otherwise.
    package var result: TestResult? {
        guard test != nil, !isWaiting, let end, [.cutoff, .gap, .load].contains(end) else { return nil }
        return TestResult(
            recording: id.short, end: end.rawValue, charge_mAh: totals.charge_mAh?.magnitude,
            energy_Wh: totals.energy_Wh?.magnitude, duration: totals.duration, gapTime: totals.gapTime,
            gapCount: totals.gapCount)
    }

    package var isToBeTold: Bool { result != nil && test?.notify.isEmpty == false }
}
