package import MeterModel

/// Counts energy and charge for a meter that counts none.
///
/// By the rule of a recording (`RecordingTotals`): between two readings voltage, current and power change linearly, each with
/// its sign, so that what flows back is taken off again. Time comes from the monotonic clock. What flowed in a gap, and while
/// this program did not run, is unknown and not counted.
package struct EnergyCounter: Hashable, Sendable {
    /// What was counted before this run.
    private var before: EnergyCount
    /// Amperes, and watts.
    private var current = IntegratedValue()
    private var power = IntegratedValue()
    private var last: MonotonicTime?
    private var since: WallTime?

    /// - Parameter before: what an earlier run left.
    package init(_ before: EnergyCount = EnergyCount()) {
        self.before = before
        since = before.since
    }

    /// What was counted until now.
    package var count: EnergyCount {
        EnergyCount(
            energy_Wh: before.energy_Wh + power.integral / 3600, charge_mAh: before.charge_mAh + current.integral / 3.6,
            seconds: before.seconds + max(current.seconds, power.seconds), since: since)
    }

    /// A reading came. To be called in the order of the readings' monotonic times.
    ///
    /// - Parameter stepMax: a longer time between two readings is a gap.
    /// - Returns: whether it is one of those that are counted: it has a current or a power, even an unknown one.
    package mutating func add(_ reading: TimedReading, stepMax: Duration) -> Bool {
        let values = reading.reading
        guard values.supported.contains(.current) || values.supported.contains(.power) else { return false }
        let step = last.map { (reading.time - $0).seconds }
        last = reading.time
        current.add(values[.current], step: step, stepMax: stepMax.seconds)
        power.add(values.flow, step: step, stepMax: stepMax.seconds)
        if since == nil { since = reading.wallTime }
        return true
    }

    /// Begins anew from zero.
    package mutating func reset(at wall: WallTime) { self = EnergyCounter(EnergyCount(since: wall)) }
}

/// What was counted for a meter, as it is shown and stored.
package struct EnergyCount: Hashable, Sendable {
    /// Below zero where more flowed back.
    package var energy_Wh: Double
    package var charge_mAh: Double
    /// How long it was counted, gaps left out.
    package var seconds: Double
    /// When it began, or was reset, by the calendar; nil before the first reading.
    package var since: WallTime?

    package init(energy_Wh: Double = 0, charge_mAh: Double = 0, seconds: Double = 0, since: WallTime? = nil) {
        self.energy_Wh = energy_Wh.isFinite ? energy_Wh : 0
        self.charge_mAh = charge_mAh.isFinite ? charge_mAh : 0
        self.seconds = seconds.isFinite ? max(0, seconds) : 0
        self.since = since
    }

    /// Of two ids of one meter.
    package static func + (one: Self, other: Self) -> Self {
        Self(
            energy_Wh: one.energy_Wh + other.energy_Wh, charge_mAh: one.charge_mAh + other.charge_mAh,
            seconds: one.seconds + other.seconds, since: [one.since, other.since].compactMap { $0 }.min())
    }

    /// Puts it into a reading, to a tenth of a milliwatt-hour and a hundredth of a milliampere-hour: as fine as anybody
    /// reads it, and short in the store.
    package func put(into reading: inout Reading) {
        reading[.countedEnergy] = (energy_Wh * 10_000).rounded() / 10_000
        reading[.countedCharge] = (charge_mAh * 100).rounded() / 100
    }
}
