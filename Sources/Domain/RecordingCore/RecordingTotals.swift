/// What a recording adds up to.
///
/// Between two neighbouring readings at most `RecordingRules.stepMax` apart, current, voltage and power are assumed to
/// change linearly (the trapezoid), by the monotonic time at which their bytes left the channel. Charge is the integral
/// of the current, energy that of voltage times current (of the meter's own power if it reports no voltage, or measures
/// the mains), each with its sign. A longer step is a gap: it is marked and not integrated.
package struct RecordingTotals: Hashable, Sendable {
    package var readings = 0
    /// The integrated time.
    package var recorded: Duration = .zero
    package var voltage = IntegratedValue()
    /// Amperes.
    package var current = IntegratedValue()
    /// Watts: voltage times current.
    package var power = IntegratedValue()
    package var temperature = IntegratedValue()
    /// The meter's own counters, mAh and Wh.
    package var charge = CounterTrack(perSecondMax: CounterTrack.chargePerSecondMax, resolution: 1)
    package var energy = CounterTrack(perSecondMax: CounterTrack.energyPerSecondMax, resolution: 0.1)
    /// The first gaps, at most `gapsMax`.
    package private(set) var gaps: [RecordingGap] = []
    package private(set) var gapCount = 0
    package private(set) var gapTime: Duration = .zero
    /// Number of times the host went down during the recording.
    package var restarts = 0

    /// Most gaps listed. Further ones are only counted.
    package static let gapsMax = 100

    package init() {}

    /// The duration including gaps.
    package var duration: Duration { recorded + gapTime }
    /// The charge in mAh, as integrated by this host. Nil unless two readings had a current.
    package var charge_mAh: Double? { current.seconds > 0 ? current.integral / 3.6 : nil }
    /// The energy in Wh, likewise.
    package var energy_Wh: Double? { power.seconds > 0 ? power.integral / 3600 : nil }

    /// Adds a reading.
    ///
    /// - Parameters:
    ///   - step: the time since the previous reading. Nil for the first one, and across a restart.
    ///   - group: the meter's data group whose counters it has; nil if unknown.
    package mutating func add(_ reading: Reading, step: Duration?, rules: RecordingRules, group: Int? = nil) {
        readings += 1
        if let step, step <= rules.stepMax { recorded += max(.zero, step) }
        let step = step.map { $0.seconds }
        let limit = rules.stepMax.seconds
        voltage.add(reading[.voltage], step: step, stepMax: limit)
        current.add(reading[.current], step: step, stepMax: limit)
        power.add(reading.flow, step: step, stepMax: limit)
        temperature.add(reading[.temperature], step: step, stepMax: limit)
        charge.add(reading[.charge], step: step, group: group)
        energy.add(reading[.energy], step: step, group: group)
    }

    /// Marks a gap.
    package mutating func add(_ gap: RecordingGap) {
        gapCount += 1
        gapTime += gap.length
        if gaps.count < Self.gapsMax { gaps.append(gap) }
    }

    /// Restores stored gaps; `count` and `time` include those not listed.
    package mutating func restore(gaps: [RecordingGap], count: Int, time: Duration) {
        self.gaps = Array(gaps.prefix(Self.gapsMax))
        gapCount = max(count, self.gaps.count)
        gapTime = max(time, .zero)
    }
}

/// A time for which it is unknown what flowed.
package struct RecordingGap: Hashable, Sendable {
    package enum Cause: String, Sendable, CaseIterable {
        /// The link was lost: the meter lost power, or went out of reach.
        case link
        /// The link stayed up and nothing came.
        case silence
        /// The host was down.
        case host
    }

    /// When the last reading before the gap came, by the calendar.
    package var start: WallTime
    package var length: Duration
    package var cause: Cause

    package init(start: WallTime, length: Duration, cause: Cause) {
        self.start = start
        self.length = length
        self.cause = cause
    }
}

extension Reading {
    /// Watts, with the sign of the current: voltage times current, or the meter's own power if it reports no voltage, or
    /// measures the mains.
    package var flow: Double? {
        // Volts times amperes of the mains are more than watts.
        let isMains = supported.contains(.powerFactor)
        guard !isMains, let voltage = self[.voltage], let current = self[.current] else { return self[.power] }
        let product = voltage * current
        return product.isFinite ? product : nil
    }
}

extension Duration {
    /// Seconds with their fraction.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
