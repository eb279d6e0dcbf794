/// What makes a recording a battery test: when it begins by itself, when it is over, and who is told.
package struct BatteryTest: Hashable, Sendable {
    /// The cut-off: a value on one side of a limit. It counts once a value on the other side was seen, so that a test may begin
    /// before the battery is put in.
    package let until: AlertPattern
    /// Amperes, above 0: it begins when the current, in either direction, has been at least this large for the hold time
    /// of the meter's recordings. Nil if it begins at once.
    package let startAbove: Double?
    /// Names of `[notify.NAME]` in the configuration.
    package let notify: [String]
    /// Whether it still waits for its start.
    package internal(set) var isWaiting: Bool
    /// Whether a value on the other side of the cut-off was seen.
    package internal(set) var isArmed = false
    /// The value with which the cut-off began to hold. Nil until the test is over by it.
    package internal(set) var value: Double?
    /// The load that it drives, and how that stands; nil where the battery is emptied or filled by something else.
    package var load: LoadStanding?

    /// For how long a cut-off must hold where the person did not say: one reading proves little.
    package static let holdDefault = Duration.seconds(10)
    /// What a cut-off looks like.
    package static let legal = "for example \"current < 50mA for 30s\" or \"voltage < 3.0V for 10s\""

    /// - Parameter until: as a person types it (`AlertParser`); a value above or below a limit.
    package init(
        until: String, startAbove: Double? = nil, notify: [String] = [], load: LoadPlan? = nil
    ) throws(AlertSyntaxError) {
        var pattern = try AlertParser.pattern(until)
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
        self.load = load.map { LoadStanding($0) }
    }
}

/// What a test has a load do, and how far that went.
package struct LoadStanding: Hashable, Sendable {
    package let plan: LoadPlan
    package var phase: LoadDrive.Phase
    /// What a person should know; nil while all is well.
    package var problem: String?

    package init(_ plan: LoadPlan, phase: LoadDrive.Phase = .preparing, problem: String? = nil) {
        self.plan = plan
        self.phase = phase
        self.problem = problem
    }

    /// Whether the load goes on by itself where it is not heard, and the test is to go on with it.
    var outlastsSilence: Bool { plan.onLinkLoss == .keep && (phase == .drawing || phase == .away) }
}

extension Recording {
    /// Whether it waits for its start, and records nothing yet.
    package var isWaiting: Bool { test?.isWaiting ?? false }

    /// What is told of a battery test that is over by itself; nil of anything else.
    package var result: TestResult? {
        guard test != nil, !isWaiting, let end, [.cutoff, .gap, .load].contains(end) else { return nil }
        return TestResult(
            recording: id.short, end: end.rawValue, charge_mAh: totals.charge_mAh?.magnitude,
            energy_Wh: totals.energy_Wh?.magnitude, duration: totals.duration, gapTime: totals.gapTime,
            gapCount: totals.gapCount)
    }

    /// Whether somebody is to be told of it.
    package var isToBeTold: Bool { result != nil && test?.notify.isEmpty == false }
}
