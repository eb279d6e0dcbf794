/// Reduces readings to a limited number of points with minimum, maximum and mean, so that no peak is lost. Add readings
/// and buckets in any order. Memory use depends only on points and quantities.
package struct SeriesBuilder: Sendable {
    package static let pointsMax = 10_000
    /// Start of the first point; at or slightly before the span's start.
    package let origin: WallTime
    package let end: WallTime
    /// Milliseconds per point.
    package let width: Int64
    /// Tier to use; nil for single readings, or for one-second buckets where no single readings are left.
    package let tier: SampleTier?
    package let quantities: [Quantity]
    /// Time of the latest reading or bucket added; nil before the first.
    package private(set) var latest: WallTime?

    private let staleAfter: Duration?
    private var cells: [Cell]
    private var stretches: [Stretch]

    private struct Cell {
        var count = 0.0
        var least = 0.0
        var greatest = 0.0
        var mean = 0.0
    }

    /// Times of the first and last value of a point; `first` is after `last` if it is empty.
    private struct Stretch {
        var first = Int64.max
        var last = Int64.min
    }

    /// - Parameters:
    ///   - span: clamped to the years 0 to 9999.
    ///   - points: clamped to 1 to `pointsMax`; one more if the span begins within a bucket.
    ///   - staleAfter: silence after which the meter's data are stale; nil if unknown.
    package init(span: Range<WallTime>, points: Int, quantities: [Quantity], staleAfter: Duration? = nil) {
        self.staleAfter = staleAfter
        let from = span.lowerBound.inCalendar
        let to = max(span.upperBound.inCalendar, from)
        let points = Int64(min(max(points, 1), Self.pointsMax))
        let length = to - from
        tier = Self.tier(length: length, points: points)
        let finest = max(1, (length + points - 1) / points)
        // Use whole buckets, or whole seconds unless points are shorter, so that each bucket lies in one point.
        let unit = tier?.rawValue ?? (finest >= SampleTier.second.rawValue ? SampleTier.second.rawValue : 1)
        width = max(unit, (finest + unit - 1) / unit * unit)
        origin = WallTime(millisecondsSince1970: from).floored(to: unit)
        end = WallTime(millisecondsSince1970: to)
        self.quantities = quantities
        let count = length == 0 ? 0 : Int((to - origin.millisecondsSince1970 + width - 1) / width)
        cells = Array(repeating: Cell(), count: count * quantities.count)
        stretches = Array(repeating: Stretch(), count: count)
    }

    /// Returns hours if the span has at least one per point, and minutes if at least one per three points. Otherwise
    /// nil, because single readings are few enough.
    private static func tier(length: Int64, points: Int64) -> SampleTier? {
        if length / SampleTier.hour.rawValue >= points { return .hour }
        return length / SampleTier.minute.rawValue >= max(1, points / 3) ? .minute : nil
    }

    package var pointCount: Int { stretches.count }

    /// Call before adding readings of another id of the meter.
    package mutating func beginID() { latest = nil }

    package mutating func add(_ time: WallTime, _ reading: Reading) {
        guard let point = point(at: time) else { return }
        var cell = point * quantities.count
        for quantity in quantities {
            if let value = reading[quantity] { add(value, value, value, count: 1, to: cell) }
            cell += 1
        }
    }

    package mutating func add(_ bucket: SampleBucket) {
        guard let point = point(at: bucket.start) else { return }
        var cell = point * quantities.count
        for quantity in quantities {
            if let count = bucket.counts[quantity], let least = bucket.minima[quantity],
                let greatest = bucket.maxima[quantity], let mean = bucket.means[quantity]
            {
                add(least, greatest, mean, count: count, to: cell)
            }
            cell += 1
        }
    }

    private mutating func point(at time: WallTime) -> Int? {
        guard time >= origin, time < end else { return nil }
        let milliseconds = time.millisecondsSince1970
        let point = Int((milliseconds - origin.millisecondsSince1970) / width)
        guard stretches.indices.contains(point) else { return nil }
        stretches[point].first = min(stretches[point].first, milliseconds)
        stretches[point].last = max(stretches[point].last, milliseconds)
        if latest.map({ $0 < time }) ?? true { latest = time }
        return point
    }

    private mutating func add(_ least: Double, _ greatest: Double, _ mean: Double, count: Double, to index: Int) {
        var cell = cells[index]
        cell.least = cell.count == 0 ? least : min(cell.least, least)
        cell.greatest = cell.count == 0 ? greatest : max(cell.greatest, greatest)
        cell.count += count
        cell.mean += (mean - cell.mean) * (count / cell.count)
        cells[index] = cell
    }

    /// Omits empty points. A point without values marks each gap, so that charts break the line.
    package consuming func finish() -> Series {
        var series = Series(origin: origin, width: .milliseconds(width), tier: tier, gap: .milliseconds(gapLength))
        let columns = quantities.indices.filter { column in
            stretches.indices.contains { cells[$0 * quantities.count + column].count > 0 }
        }
        series.columns = columns.map { Series.Column(quantity: quantities[$0]) }
        let gap = gapLength
        var last: Int64?
        for point in stretches.indices where stretches[point].first <= stretches[point].last {
            if let last, stretches[point].first - last > gap { series.appendGap(at: last + (gap + 1) / 2) }
            last = stretches[point].last
            series.times.append(WallTime(millisecondsSince1970: stretches[point].first))
            for (place, column) in columns.enumerated() {
                let cell = cells[point * quantities.count + column]
                series.columns[place].append(
                    cell.count > 0
                        ? (cell.least, cell.greatest, min(max(cell.mean.toMillionths, cell.least), cell.greatest)) : nil
                )
            }
        }
        return series
    }

    /// Milliseconds without readings that make a gap, at least two buckets. If it is known when the meter's data are
    /// stale: that time, or twice the longest of the usual steps (90 %), as the meter may have been read more slowly for
    /// a part of the span. Otherwise four times the usual step, at least `Series.gapMin`.
    private var gapLength: Int64 {
        var steps: [Int64] = []
        var last: Int64?
        for stretch in stretches where stretch.first <= stretch.last {
            if let last { steps.append(stretch.first - last) }
            last = stretch.last
        }
        steps.sort()
        let usual = steps.isEmpty ? 0 : steps[steps.count / 2]
        let least = tier.map { $0.rawValue * 2 } ?? 0
        guard let staleAfter else { return max(Series.gapMin.milliseconds, usual * 4, least) }
        let slow = steps.count < 10 ? usual : steps[steps.count * 9 / 10]
        return max(staleAfter.milliseconds, slow * 2, least)
    }
}

package struct Series: Hashable, Sendable {
    /// Minimum gap, so that charts show the same gaps as recordings.
    static let gapMin = RecordingRules().stepMax

    package var origin: WallTime
    package var width: Duration
    /// Tier used, as in `SeriesBuilder.tier`.
    package var tier: SampleTier?
    /// Silence after which the series contains a point without values.
    package var gap: Duration
    /// Time of each point's first measurement, ascending.
    package var times: [WallTime] = []
    /// Columns of the requested quantities that have values; each is as long as `times`.
    package var columns: [Column] = []

    package init(origin: WallTime, width: Duration, tier: SampleTier?, gap: Duration) {
        self.origin = origin
        self.width = width
        self.tier = tier
        self.gap = gap
    }

    /// Values of one quantity; nil where unknown.
    package struct Column: Hashable, Sendable {
        package var quantity: Quantity
        package var minima: [Double?] = []
        package var maxima: [Double?] = []
        package var means: [Double?] = []

        package init(quantity: Quantity) { self.quantity = quantity }

        mutating func append(_ values: (least: Double, greatest: Double, mean: Double)?) {
            minima.append(values?.least)
            maxima.append(values?.greatest)
            means.append(values?.mean)
        }
    }

    mutating func appendGap(at time: Int64) {
        times.append(WallTime(millisecondsSince1970: time))
        for index in columns.indices { columns[index].append(nil) }
    }
}

extension WallTime {
    /// Clamped to the years 0 to 9999, so that sums and differences cannot overflow.
    fileprivate var inCalendar: Int64 { min(max(millisecondsSince1970, -62_167_219_200_000), 253_402_300_799_999) }
}
