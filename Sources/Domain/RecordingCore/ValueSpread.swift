/// Extremes and quantiles of many values, in bounded memory.
///
/// Values are counted in bins whose width is a 4,096th of the value, as in HdrHistogram. A quantile is the mean of a
/// bin: exact for a few distinct values, otherwise off by at most 0.025 %. If there are too many bins, they are merged.
package struct ValueSpread: Sendable {
    private struct Bin {
        var count = 0.0
        /// Mean value, which loses less precision than a sum.
        var mean = 0.0
    }

    /// Maximum number of bins; beyond it, up to eight are merged into one.
    package static let binsMax = 16_384

    private var bins: [Int64: Bin] = [:]
    /// Number of ignored low bits of a value: 40 leaves 12 bits of its fraction.
    private var coarseness: Int64 = 40
    package private(set) var count = 0.0
    /// Nil before the first value.
    package private(set) var least: Double?
    package private(set) var greatest: Double?

    package init() {}

    /// - Parameters:
    ///   - value: one value, or the mean of `count`. NaN and infinity are ignored.
    ///   - count: above 0.
    ///   - extremes: minimum and maximum of these values.
    package mutating func add(_ value: Double, count: Double = 1, extremes: ClosedRange<Double>? = nil) {
        guard value.isFinite, count > 0 else { return }
        least = min(least ?? value, extremes?.lowerBound ?? value)
        greatest = max(greatest ?? value, extremes?.upperBound ?? value)
        self.count += count
        Self.add(value, count, to: &bins[key(of: value), default: Bin()])
        if bins.count > Self.binsMax { coarsen() }
    }

    private static func add(_ value: Double, _ count: Double, to bin: inout Bin) {
        bin.count += count
        bin.mean += (value - bin.mean) * (count / bin.count)
    }

    /// Keys ascend with the value, because the bits of a `Double` without its sign ascend with its magnitude.
    private func key(of value: Double) -> Int64 {
        let magnitude = Int64(value.magnitude.bitPattern) >> coarseness
        return value < 0 ? -1 - magnitude : magnitude
    }

    private mutating func coarsen() {
        guard coarseness < 60 else { return }
        coarseness += 3
        let old = bins
        bins = [:]
        for bin in old.values { Self.add(bin.mean, bin.count, to: &bins[key(of: bin.mean), default: Bin()]) }
    }

    /// Nil if there are no values.
    ///
    /// - Parameter part: 0 to 1; 0.5 is the median.
    package func quantile(_ part: Double) -> Double? { quantiles([part]).first }

    /// - Parameter parts: 0 to 1, ascending.
    /// - Returns: one quantile for each part; empty if there are no values.
    package func quantiles(_ parts: [Double]) -> [Double] {
        guard let least, let greatest else { return [] }
        let sorted = bins.sorted { $0.key < $1.key }.map(\.value)
        var (place, sum) = (0, sorted[0].count)
        return parts.map { part in
            let wanted = min(max(part, 0), 1) * count
            while sum < wanted, place + 1 < sorted.count {
                place += 1
                sum += sorted[place].count
            }
            return sum < wanted ? greatest : min(max(sorted[place].mean, least), greatest)
        }
    }
}
