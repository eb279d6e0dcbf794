/// Sums and extremes of a recording. Current, voltage and power are assumed to change linearly between readings
/// (trapezoid rule). A reading's time is the monotonic time of its arrival. A step longer than `RecordingRules.stepMax`
/// is a gap and is not integrated.
///
/// Charge and energy are signed. Energy is the integral of `Reading.flow`.
package struct RecordingTotals: Hashable, Sendable {
    package var readings = 0
    package var recorded: Duration = .zero
    package var voltage = IntegratedValue()
    /// Current in amperes.
    package var current = IntegratedValue()
    /// Power in watts; see `Reading.flow`.
    package var power = IntegratedValue()
    package var temperature = IntegratedValue()
    /// The meter's own counters, in mAh and Wh.
    package var charge = CounterTrack(perSecondMax: CounterTrack.chargePerSecondMax, resolution: 1)
    package var energy = CounterTrack(perSecondMax: CounterTrack.energyPerSecondMax, resolution: 0.1)
    /// At most the first `gapsMax` gaps.
    package private(set) var gaps: [RecordingGap] = []
    package private(set) var gapCount = 0
    package private(set) var gapTime: Duration = .zero
    package var restarts = 0

    /// Maximum number of listed gaps; further ones are only counted.
    package static let gapsMax = 100

    package init() {}

    package var duration: Duration { recorded + gapTime }
    /// Charge integrated by meterd; nil unless two consecutive readings had a current.
    package var charge_mAh: Double? { current.seconds > 0 ? current.integral / 3.6 : nil }
    /// Energy integrated by meterd; nil unless two consecutive readings had a power.
    package var energy_Wh: Double? { power.seconds > 0 ? power.integral / 3600 : nil }

    /// - Parameters:
    ///   - step: time since the previous reading; nil for the first one and after a restart.
    ///   - group: data group of the counters; nil if unknown.
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

    package mutating func add(_ gap: RecordingGap) {
        gapCount += 1
        gapTime += gap.length
        if gaps.count < Self.gapsMax { gaps.append(gap) }
    }

    /// `count` and `time` include gaps that are not listed.
    package mutating func restore(gaps: [RecordingGap], count: Int, time: Duration) {
        self.gaps = Array(gaps.prefix(Self.gapsMax))
        gapCount = max(count, self.gaps.count)
        gapTime = max(time, .zero)
    }
}

/// A period in which charge and energy are unknown.
package struct RecordingGap: Hashable, Sendable {
    package enum Cause: String, Sendable, CaseIterable {
        /// The meter lost power or was out of reach.
        case link
        /// The link remained up, but no reading arrived.
        case silence
        case host
    }

    /// Time of the last reading before the gap.
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
    /// Watts with the sign of the current: voltage times current, or the meter's own power if it reports no voltage or
    /// measures the mains.
    package var flow: Double? {
        // On the mains, voltage times current exceeds the real power.
        let isMains = supported.contains(.powerFactor)
        guard !isMains, let voltage = self[.voltage], let current = self[.current] else { return self[.power] }
        let product = voltage * current
        return product.isFinite ? product : nil
    }
}

extension Duration {
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
