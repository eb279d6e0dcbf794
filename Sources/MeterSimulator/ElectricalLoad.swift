import Domain

/// Values for a simulated meter, which depend only on the seed and on `step`, the number of the meter's update.
///
/// Either a phone charges with a falling current, or a battery is discharged.
package struct ElectricalLoad: Sendable {
    /// Open-circuit voltage of the supply, in volts.
    package var supply: Double
    /// Initial current in amperes.
    package var startCurrent: Double
    /// Seconds in which the current halves.
    package var halfLife: Double
    /// Ambient temperature in degrees Celsius, shown while no current flows.
    package var ambient: Double
    package var seed: UInt64
    /// Seconds in which the current empties a battery, whose voltage falls until then. No current flows afterwards. Nil
    /// for a charging phone.
    package var discharge: Double?

    package init(
        supply: Double = 5.12, startCurrent: Double = 1.5, halfLife: Double = 1800, ambient: Double = 24,
        seed: UInt64 = 1
    ) {
        self.supply = supply
        self.startCurrent = startCurrent
        self.halfLife = halfLife
        self.ambient = ambient
        self.seed = seed
    }

    package struct State: Hashable, Sendable {
        /// Voltage in volts; `current` is in amperes, `temperature` in degrees Celsius.
        package var voltage: Double
        package var current: Double
        package var temperature: Double
        package var dataPlus: Double
        package var dataMinus: Double

        package var power: Double { voltage * current }
    }

    /// Returns the state during step `step`, of `length` seconds each. Negative steps count as 0.
    package func state(step: Int, length: Double) -> State {
        let step = max(0, step)
        let seconds = max(0, Double(step) * length)
        var noise = SplitMix64(seed: seed &+ UInt64(truncatingIfNeeded: step) &* 7919)
        let halvings = halfLife > 0 ? min(seconds / halfLife, 40) : 40
        var (open, drawn) = (supply, startCurrent * Self.powerOfHalf(halvings))
        if let discharge {
            let left = discharge > 0 ? max(0, 1 - seconds / discharge) : 0
            // The open-circuit voltage falls to 0.6 of the supply, roughly like a lithium cell's.
            open = supply * (left > 0.1 ? 0.9 + 0.1 * left : 0.6 + 3.1 * left)
            drawn = left > 0 ? startCurrent : 0
        }
        let current = max(0, drawn * (1 + 0.01 * noise.wobble()))
        return State(
            voltage: open - 0.08 * current + 0.002 * noise.wobble(),
            current: current,
            temperature: ambient + 6 * current + 0.3 * noise.wobble(),
            dataPlus: 2.7 + 0.01 * noise.wobble(),
            dataMinus: 2.7 + 0.01 * noise.wobble()
        )
    }

    /// Returns 0.5 to the power of `exponent` without a maths library: exact at whole numbers, linear in between.
    private static func powerOfHalf(_ exponent: Double) -> Double {
        let whole = exponent.rounded(.down)
        var value = 1.0
        for _ in 0..<Int(whole) { value /= 2 }
        return value * (1 - 0.5 * (exponent - whole))
    }
}

package struct EnergyCounter: Hashable, Sendable {
    package var charge_mAh: Double
    package var energy_mWh: Double

    package init(charge_mAh: Double = 0, energy_mWh: Double = 0) {
        self.charge_mAh = charge_mAh
        self.energy_mWh = energy_mWh
    }

    package mutating func add(_ state: ElectricalLoad.State, seconds: Double) {
        charge_mAh += state.current * seconds / 3.6
        energy_mWh += state.power * seconds / 3.6
    }
}
