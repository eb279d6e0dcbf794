/// Counts a meter's energy and charge, across changes of its data group and resets of its counters.
///
/// Values change linearly between readings, as in `RecordingTotals`. A gap adds the increase of the meter's own
/// counter, less its smallest step, because its last digit is rounded. Without such a counter a gap adds nothing.
///
/// For a meter without counters the sums have the sign of the current. Otherwise they include both directions, as the
/// meter's counters do, and never fall.
package struct EnergyCounter: Hashable, Sendable {
    package private(set) var count: EnergyCount
    /// Integrals of current (amperes) and power (watts).
    private var current = IntegratedValue()
    private var power = IntegratedValue()
    private var last: MonotonicTime?
    /// Time of the last reading with the meter's own counters; nil if none since meterd started.
    private var ownCameAt: MonotonicTime?
    /// Whether the next value of the meter's own charge counter must fill a gap in the integrated current; true after a
    /// start.
    private var isChargeBehind = true
    private var isEnergyBehind = true

    package init(_ before: EnergyCount = EnergyCount()) { count = before }

    /// Time after a frame with the meter's own counters in which totals are added to no other frames. Some meters send
    /// counters in separate frames.
    private static let ownFramesWithin = Duration.seconds(60)

    /// Call in the order of the readings' monotonic times.
    ///
    /// - Parameters:
    ///   - stepMax: a longer distance between readings is a gap.
    ///   - steps: resolution of the meter's own counters.
    /// - Returns: whether to put the totals into this reading: if it has counters or, for a meter without any, a
    ///   current or power, even an unknown one.
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

    package mutating func reset(at wall: WallTime) {
        self = Self(EnergyCount(since: wall, token: count.token))
    }

    /// Records the fencing token of this host's lease. Resets the count if another host may have held the lease
    /// meanwhile: a sum over both hosts' counts would include their difference as consumption.
    ///
    /// Each grant to another host, and the next one to this host, raises the token by one (Docs/Leases.md). An
    /// unanswered release also skips a token, which another host may have had, so it resets the count.
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
        // Include the integrated amount in the counter's value, so that a later gap adds only the rest.
        if let own = count.own?.charge_mAh { count.own?.charge_mAh = own + charge }
        if let own = count.own?.energy_Wh { count.own?.energy_Wh = own + energy }
    }

    /// Adds the flow during a gap: the increase of the meter's own counters beyond the integrated amount.
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
            // Add nothing unless the counter, less its rounded last digit, exceeds the value that the totals include.
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
        // Without a current, nothing is integrated, and `isChargeBehind` remains true.
        if current.least != nil { isChargeBehind = false }
        if power.least != nil { isEnergyBehind = false }
    }
}

extension IntegratedValue {
    /// Whether nothing was integrated for the value, because it was the first or followed a gap.
    fileprivate func isBehind(_ before: Self, _ value: Double?, step: Double?) -> Bool {
        value != nil && step != 0 && seconds == before.seconds
    }
}

/// Values of the meter's own counters up to which meterd's totals include all charge and energy.
package struct OwnCounters: Hashable, Sendable {
    package var charge_mAh: Double?
    package var energy_Wh: Double?
    /// Nil for meters without data groups, or while unknown.
    package var group: Int?
    package var at: WallTime

    package init(charge_mAh: Double? = nil, energy_Wh: Double? = nil, group: Int? = nil, at: WallTime) {
        self.charge_mAh = charge_mAh.flatMap { $0.isFinite ? $0 : nil }
        self.energy_Wh = energy_Wh.flatMap { $0.isFinite ? $0 : nil }
        self.group = group
        self.at = at
    }
}

package struct EnergyCount: Hashable, Sendable {
    /// Negative if a meter without counters measured more reverse than forward flow.
    package var energy_Wh: Double
    package var charge_mAh: Double
    /// Integrated duration, without gaps.
    package var seconds: Double
    /// Time of the first reading or of the last reset; nil before both.
    package var since: WallTime?
    /// Nil if the meter has reported no counters.
    package var own: OwnCounters?
    /// Fencing token of this host's last lease; nil without a cloud.
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

    /// Compares energy, then charge: a meter without a voltage has no energy.
    package func isLess(than other: Self) -> Bool {
        (energy_Wh, charge_mAh, seconds) < (other.energy_Wh, other.charge_mAh, other.seconds)
    }

    /// Rounds to 0.1 mWh and 0.01 mAh: enough for display, and short in the store. Leaves out the energy of a meter that
    /// measures current alone, and the charge of one that measures power alone. A reading without quantities gets both.
    package func put(into reading: inout Reading) {
        let measured = reading.supported
        func has(_ quantities: QuantitySet) -> Bool {
            measured.isEmpty || !measured.intersection(quantities).isEmpty
        }
        if energy_Wh != 0 || has(QuantitySet(.voltage, .power, .energy)) {
            reading[.countedEnergy] = (energy_Wh * 10_000).rounded() / 10_000
        }
        if charge_mAh != 0 || has(QuantitySet(.current, .charge)) {
            reading[.countedCharge] = (charge_mAh * 100).rounded() / 100
        }
    }
}
