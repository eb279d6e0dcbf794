/// One of the meter's own counters during a recording: how far it went, over its resets.
package struct CounterTrack: Hashable, Sendable {
    /// mAh a second that no meter of this kind passes: 100 A.
    package static let chargePerSecondMax = 100 / 3.6
    /// Wh a second: 25 kW.
    package static let energyPerSecondMax = 25_000 / 3600.0

    /// How far it went since the recording began; nil while the meter did not tell it.
    package private(set) var total: Double?
    /// What it showed last.
    package private(set) var last: Double?
    /// How often it began anew.
    package private(set) var resets = 0
    /// How often it stepped further than any current takes it.
    package private(set) var jumps = 0
    private let perSecondMax: Double
    private let resolution: Double
    /// Seconds since it was told; nil means nobody knows.
    private var age: Double? = 0

    init(perSecondMax: Double, resolution: Double) {
        self.perSecondMax = perSecondMax
        self.resolution = resolution
    }

    /// Takes over what was stored.
    package mutating func restore(total: Double?, last: Double?, resets: Int, jumps: Int) {
        self.total = total
        self.last = last
        (self.resets, self.jumps) = (max(0, resets), max(0, jumps))
        age = nil
    }

    mutating func add(_ value: Double?, step: Double?) {
        age = step.flatMap { step in age.map { $0 + max(step, 0) } }
        guard let value else { return }
        defer { (last, age) = (value, 0) }
        guard let last, let before = total else {
            total = total ?? 0
            return
        }
        let rise = value - last
        // The last digit may wobble.
        if rise < -resolution {
            resets += 1
            total = before + max(0, value)
        } else if let age, rise > perSecondMax * age + 2 * resolution {
            jumps += 1
        } else {
            total = before + max(0, rise)
        }
    }
}
