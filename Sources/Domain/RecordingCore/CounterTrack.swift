/// Increase of one of the meter's own counters, across resets.
package struct CounterTrack: Hashable, Sendable {
    /// Maximum increase in mAh per second: no meter exceeds 100 A.
    static let chargePerSecondMax = 100 / 3.6
    /// Maximum increase in Wh per second: no meter exceeds 25 kW.
    static let energyPerSecondMax = 25_000 / 3600.0

    /// Nil until the meter reports the counter.
    package private(set) var total: Double?
    package private(set) var last: Double?
    package private(set) var resets = 0
    /// Number of counter steps that were too large for any current or followed a change of the data group.
    package private(set) var jumps = 0
    private let perSecondMax: Double
    private let resolution: Double
    /// Seconds since the last value; nil if unknown.
    private var age: Double?
    private var group: Int?

    init(perSecondMax: Double, resolution: Double) {
        self.perSecondMax = perSecondMax
        self.resolution = resolution
    }

    package mutating func restore(total: Double?, last: Double?, resets: Int, jumps: Int) {
        self.total = total
        self.last = last
        (self.resets, self.jumps) = (max(0, resets), max(0, jumps))
        age = nil
    }

    mutating func add(_ value: Double?, step: Double?, group newGroup: Int? = nil) {
        age = step.flatMap { step in age.map { $0 + max(step, 0) } }
        guard let value else { return }
        let isOtherGroup = newGroup != nil && group != nil && newGroup != group
        defer { (last, age, group) = (value, 0, newGroup ?? group) }
        guard let last, let before = total else {
            total = total ?? 0
            return
        }
        let rise = value - last
        if isOtherGroup {
            jumps += 1
        } else if rise < -resolution {  // The last digit may fluctuate.
            resets += 1
            total = before + max(0, value)
        } else if let age, rise > perSecondMax * age + 2 * resolution {
            jumps += 1
        } else {
            total = before + max(0, rise)
        }
    }
}
