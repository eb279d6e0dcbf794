/// How many values are spread, in bounded memory: their least, greatest, and quantiles.
///
/// Values are counted in bins whose width is a 4,096th of the value, as in a logarithmic histogram (HdrHistogram is a
/// known one). A quantile is the mean of a bin's values, so that of a few different ones it is exact, and otherwise off
/// by at most 0.025 %. Very many bins are made coarser.
package struct ValueSpread: Sendable {
    private struct Bin {
        var count = 0.0
        /// In units of the value; the mean of a bin loses less in small steps than a sum does.
        var mean = 0.0
    }

    /// More of them are joined, by eights.
    package static let binsMax = 16_384

    private var bins: [Int64: Bin] = [:]
    /// Low bits of a value that do not count: 40 leave 12 of its fraction.
    private var coarseness: Int64 = 40
    /// Number of values.
    package private(set) var count = 0.0
    /// Nil until there is one.
    package private(set) var least: Double?
    package private(set) var greatest: Double?

    package init() {}

    /// - Parameters:
    ///   - value: one value, or the mean of `count`. Not a number, and infinite, count as none.
    ///   - count: above 0.
    ///   - extremes: the least and the greatest of them.
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

    /// Rises with the value: a number's bits, without its sign, do so.
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

    /// The value below which this part of all lies.
    ///
    /// - Parameter part: from 0 to 1; 0.5 is the median.
    /// - Returns: nil where there is no value.
    package func quantile(_ part: Double) -> Double? { quantiles([part]).first }

    /// The same of several parts, in rising order.
    ///
    /// - Returns: as many; none where there is no value.
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
