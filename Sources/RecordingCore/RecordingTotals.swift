package import MeterModel

/// What a recording adds up to.
///
/// The rule: between two neighbouring readings that are no further apart than `RecordingRules.stepMax`, current, voltage
/// and power are taken to change evenly (the trapezoid), by the monotonic time at which their bytes left the channel.
/// Charge is the integral of the current, energy that of voltage times current (of the meter's own power where it
/// tells no voltage), each with its sign. A longer step is a gap: it is marked and not integrated.
package struct RecordingTotals: Hashable, Sendable {
    package var readings = 0
    /// The time that is integrated.
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
    /// The first ones, at most `gapsMax`.
    package private(set) var gaps: [RecordingGap] = []
    package private(set) var gapCount = 0
    package private(set) var gapTime: Duration = .zero
    /// How often the host went down in between.
    package var restarts = 0

    /// More are counted and not listed.
    package static let gapsMax = 100

    package init() {}

    /// How long it took, with its gaps.
    package var duration: Duration { recorded + gapTime }
    /// What flowed, in mAh, as this host integrated it; nil where no current was ever read twice.
    package var charge_mAh: Double? { current.seconds > 0 ? current.integral / 3.6 : nil }
    /// The same of the energy, in Wh.
    package var energy_Wh: Double? { power.seconds > 0 ? power.integral / 3600 : nil }

    /// Takes in a reading.
    ///
    /// - Parameter step: since the reading before; nil for the first one, and across a restart.
    package mutating func add(_ reading: Reading, step: Duration?, rules: RecordingRules) {
        readings += 1
        if let step, step <= rules.stepMax { recorded += max(.zero, step) }
        let step = step.map { $0.seconds }
        let limit = rules.stepMax.seconds
        let product = reading[.voltage].flatMap { voltage in reading[.current].map { voltage * $0 } }
        voltage.add(reading[.voltage], step: step, stepMax: limit)
        current.add(reading[.current], step: step, stepMax: limit)
        power.add(product ?? reading[.power], step: step, stepMax: limit)
        temperature.add(reading[.temperature], step: step, stepMax: limit)
        charge.add(reading[.charge], step: step)
        energy.add(reading[.energy], step: step)
    }

    /// Marks a gap.
    package mutating func add(_ gap: RecordingGap) {
        gapCount += 1
        gapTime += gap.length
        if gaps.count < Self.gapsMax { gaps.append(gap) }
    }

    /// As stored: gaps beyond those that are listed included.
    package mutating func restore(gaps: [RecordingGap], count: Int, time: Duration) {
        self.gaps = Array(gaps.prefix(Self.gapsMax))
        gapCount = max(count, self.gaps.count)
        gapTime = max(time, .zero)
    }

    /// Nothing is known of what lies between the last reading and the next.
    package mutating func breakOff() {
        for track in [\RecordingTotals.voltage, \.current, \.power, \.temperature] { self[keyPath: track].breakOff() }
    }
}

/// Where nobody knows what flowed.
package struct RecordingGap: Hashable, Sendable {
    package enum Cause: String, Sendable, CaseIterable {
        /// The link was lost: the meter lost its power, or went out of reach.
        case link
        /// The link stayed and nothing came.
        case silence
        /// The host was down.
        case host
    }

    /// The last reading before it, by the calendar.
    package var start: WallTime
    package var length: Duration
    package var cause: Cause

    package init(start: WallTime, length: Duration, cause: Cause) {
        self.start = start
        self.length = length
        self.cause = cause
    }
}

extension Duration {
    /// With a fraction.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
