/// Counts a meter's energy and charge: the totals of this program, which no change of the meter's data group and no clearing
/// of its counters moves.
///
/// By the rule of a recording (`RecordingTotals`): between two readings voltage, current and power change linearly. Time comes
/// from the monotonic clock. What flowed in a gap is what the meter's own counter rose by meanwhile, less its smallest step, as
/// its last digit is rounded; a meter without a counter leaves a gap uncounted.
///
/// Of a meter without counters the sums have the sign of the current, so that what flows back is taken off again. Of one with
/// counters they never fall: they count what flows either way, as those do.
package struct EnergyCounter: Hashable, Sendable {
    /// What was counted until now.
    package private(set) var count: EnergyCount
    /// Amperes, and watts.
    private var current = IntegratedValue()
    private var power = IntegratedValue()
    private var last: MonotonicTime?
    /// When the last reading with counters of the meter's own came in this run.
    private var ownCameAt: MonotonicTime?
    /// Whether nothing was integrated for a while since the meter's own counter was last looked at. As after a start.
    private var isChargeBehind = true
    private var isEnergyBehind = true

    /// - Parameter before: what an earlier run left.
    package init(_ before: EnergyCount = EnergyCount()) { count = before }

    /// A meter that tells its counters in frames of their own has the sums in those alone.
    private static let ownFramesWithin = Duration.seconds(60)

    /// A reading came. To be called in the order of the readings' monotonic times.
    ///
    /// - Parameters:
    ///   - stepMax: a longer time between two readings is a gap.
    ///   - steps: the smallest of the meter's own counters.
    /// - Returns: whether the sums belong into it: it has the meter's own counters, or of a meter without them a current or a
    ///   power, even an unknown one.
    package mutating func add(_ reading: TimedReading, stepMax: Duration, steps: CounterSteps = .fine) -> Bool {
        let values = reading.reading
        let hasOwn = values.supported.contains(.energy) || values.supported.contains(.charge)
        let hasFlow = values.supported.contains(.current) || values.supported.contains(.power)
        guard hasOwn || hasFlow else { return false }
        if count.since == nil { count.since = reading.wallTime }
        integrate(values, at: reading.time, stepMax: stepMax)
        guard !hasOwn else {
            ownCameAt = reading.time
            follow(reading, steps)
            return true
        }
        return ownCameAt.map { reading.time - $0 > Self.ownFramesWithin } ?? true
    }

    /// Begins anew from zero.
    package mutating func reset(at wall: WallTime) {
        self = Self(EnergyCount(since: wall, token: count.token))
    }

    /// This host has the meter's lease, by this token. Begins anew from zero if another host had it meanwhile: what that one
    /// counted is not in these sums, and whoever adds up both would take the difference for consumption.
    ///
    /// A grant to another host raises the token by one, and the next to this one by another (Docs/Leases.md). A release of this
    /// host that got no answer has it skip a token, too. The count begins anew then as well: the release may have arrived, and
    /// another host may have had the very token that this one skipped. Neither the grant nor its number tells.
    package mutating func leased(_ token: UInt64, at wall: WallTime) {
        defer { count.token = token }
        guard let before = count.token, token > before, token - before > 1, count.since != nil else { return }
        reset(at: wall)
    }

    private mutating func integrate(_ values: Reading, at time: MonotonicTime, stepMax: Duration) {
        let step = last.map { (time - $0).seconds }
        last = time
        let (chargeBefore, energyBefore) = (current, power)
        let (amperes, watts, stepMax) = (values[.current], values.flow, stepMax.seconds)
        current.add(amperes, step: step, stepMax: stepMax)
        power.add(watts, step: step, stepMax: stepMax)
        if current.isBehind(chargeBefore, amperes, step: step) { isChargeBehind = true }
        if power.isBehind(energyBefore, watts, step: step) { isEnergyBehind = true }
        count.seconds += max(current.seconds, power.seconds) - max(chargeBefore.seconds, energyBefore.seconds)
        var charge = (current.integral - chargeBefore.integral) / 3.6
        var energy = (power.integral - energyBefore.integral) / 3600
        guard charge.isFinite, energy.isFinite else { return }
        if count.own != nil { (charge, energy) = (charge.magnitude, energy.magnitude) }
        count.charge_mAh += charge
        count.energy_Wh += energy
        // Where the meter's own counters are by now, as far as is known.
        if let own = count.own?.charge_mAh { count.own?.charge_mAh = own + charge }
        if let own = count.own?.energy_Wh { count.own?.energy_Wh = own + energy }
    }

    /// Looks at the meter's own counters: what they went further than was integrated flowed in a gap.
    private mutating func follow(_ reading: TimedReading, _ steps: CounterSteps) {
        let values = reading.reading
        guard values[.charge] != nil || values[.energy] != nil else { return }
        let own = count.own ?? OwnCounters(at: reading.wallTime)
        let seconds =
            (Double(reading.wallTime.millisecondsSince1970) - Double(own.at.millisecondsSince1970)) / 1000
        let isSame = own.group == reading.group
        func step(_ value: Double?, _ before: Double?, isBehind: Bool, _ step: Double, _ perSecondMax: Double) -> (
            now: Double?, rise: Double
        ) {
            guard isSame else { return (value, 0) }
            guard let value, let before, isBehind, value >= before - step else { return (value ?? before, 0) }
            // Up to the last digit it is all accounted for.
            guard value - step > before else { return (before, 0) }
            let rise = value - step - before
            return rise <= perSecondMax * seconds + step ? (value - step, rise) : (value, 0)
        }
        let charge = step(
            values[.charge], own.charge_mAh, isBehind: isChargeBehind, steps.charge_mAh,
            CounterTrack.chargePerSecondMax)
        let energy = step(
            values[.energy], own.energy_Wh, isBehind: isEnergyBehind, steps.energy_Wh, CounterTrack.energyPerSecondMax)
        count.charge_mAh += charge.rise
        count.energy_Wh += energy.rise
        count.own = OwnCounters(
            charge_mAh: charge.now, energy_Wh: energy.now, group: reading.group, at: reading.wallTime)
        // Without a current there is nothing to integrate, ever.
        if current.least != nil { isChargeBehind = false }
        if power.least != nil { isEnergyBehind = false }
    }
}

extension IntegratedValue {
    /// Whether a value came, and the time before it was too long to be integrated.
    fileprivate func isBehind(_ before: Self, _ value: Double?, step: Double?) -> Bool {
        value != nil && step != 0 && seconds == before.seconds
    }
}

/// A meter's own counters, as far as they are accounted for in its totals.
package struct OwnCounters: Hashable, Sendable {
    package var charge_mAh: Double?
    package var energy_Wh: Double?
    /// The data group whose counters they are; nil for a meter without groups, and while it is unknown.
    package var group: Int?
    /// When they were told.
    package var at: WallTime

    package init(charge_mAh: Double? = nil, energy_Wh: Double? = nil, group: Int? = nil, at: WallTime) {
        self.charge_mAh = charge_mAh.flatMap { $0.isFinite ? $0 : nil }
        self.energy_Wh = energy_Wh.flatMap { $0.isFinite ? $0 : nil }
        self.group = group
        self.at = at
    }
}

/// What was counted for a meter, as it is shown and stored.
package struct EnergyCount: Hashable, Sendable {
    /// Below zero where more flowed back, of a meter without counters.
    package var energy_Wh: Double
    package var charge_mAh: Double
    /// How long it was integrated, gaps left out.
    package var seconds: Double
    /// When it began, or was reset, by the calendar; nil before the first reading.
    package var since: WallTime?
    /// The meter's own counters; nil for a meter that has told none.
    package var own: OwnCounters?
    /// The token of the last lease under which this host had the meter; nil without a cloud.
    package var token: UInt64?

    package init(
        energy_Wh: Double = 0, charge_mAh: Double = 0, seconds: Double = 0, since: WallTime? = nil,
        own: OwnCounters? = nil, token: UInt64? = nil
    ) {
        self.energy_Wh = energy_Wh.isFinite ? energy_Wh : 0
        self.charge_mAh = charge_mAh.isFinite ? charge_mAh : 0
        self.seconds = seconds.isFinite ? max(0, seconds) : 0
        self.since = since
        self.own = own
        self.token = token
    }

    /// By energy; by charge where none was counted, as of a meter without a voltage.
    package func isLess(than other: Self) -> Bool {
        (energy_Wh, charge_mAh, seconds) < (other.energy_Wh, other.charge_mAh, other.seconds)
    }

    /// Puts it into a reading, to a tenth of a milliwatt-hour and a hundredth of a milliampere-hour: as fine as anybody
    /// reads it, and short in the store.
    package func put(into reading: inout Reading) {
        reading[.countedEnergy] = (energy_Wh * 10_000).rounded() / 10_000
        reading[.countedCharge] = (charge_mAh * 100).rounded() / 100
    }
}
