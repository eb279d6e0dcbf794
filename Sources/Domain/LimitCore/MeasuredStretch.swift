/// All readings of a period, in memory so that comparing them with limits is exact. Current and power count by
/// magnitude, as in alerts.
package struct MeasuredStretch: Sendable {
    /// Maximum number of readings; four quantities of so many need half a gigabyte.
    package static let readingsMax = 5_000_000

    private let capacity: Int
    private let quantities: [Quantity]
    /// Milliseconds, ascending.
    private var times: [Int64] = []
    /// Values of each quantity; NaN if a reading lacks it.
    private var columns: [[Double]]
    /// Minimum and maximum of single values, because means hide them; magnitudes for current and power.
    private var extremes: [Quantity: ClosedRange<Double>] = [:]
    /// Quantities that flowed in both directions: a mean's magnitude is not the mean of the magnitudes.
    private var turning: Set<Quantity> = []
    /// Number of readings that could not be added.
    package private(set) var lost = 0
    /// Longest period stored as a mean, in milliseconds; 0 for single readings only.
    package var resolution: Int64 = 0
    /// `start` and `end` of the period, in milliseconds on the readings' clock; nil means the first or last reading.
    package var start: Int64?
    package var end: Int64?
    /// Duration in milliseconds, measured by another clock; nil to use the readings' clock.
    package var duration: Int64?

    /// - Parameters:
    ///   - limits: limits to judge; readings of other quantities are not stored.
    ///   - capacity: maximum number of readings.
    package init(for limits: [Limit], capacity: Int = readingsMax) {
        self.capacity = capacity
        quantities = Array(Set(limits.compactMap(\.quantity)))
        columns = quantities.map { _ in [] }
    }

    package var count: Int { times.count }
    package var isFull: Bool { times.count >= capacity }
    /// Adds a reading. One older than the last counts as lost: the clock was set back, so its duration is unknown.
    package mutating func add(_ reading: Reading, at time: Int64) {
        guard !isFull, times.last.map({ $0 <= time }) ?? true else { return lose(1) }
        times.append(time)
        for (index, quantity) in quantities.enumerated() {
            let value = quantity.alertValue(in: reading) ?? .nan
            columns[index].append(value.isFinite ? value : .nan)
        }
    }

    package mutating func lose(_ count: Int) { lost = lost.addingClamped(max(0, count)) }

    package mutating func addExtremes(_ range: ClosedRange<Double>, of quantity: Quantity) {
        var (low, high) = (range.lowerBound, range.upperBound)
        if quantity.isAlertedBySize, low < 0 {
            if high > 0 { turning.insert(quantity) }
            (low, high) = (high > 0 ? 0 : high.magnitude, max(low.magnitude, high.magnitude))
        }
        let before = extremes[quantity] ?? low...high
        extremes[quantity] = min(before.lowerBound, low)...max(before.upperBound, high)
    }

    // MARK: Time

    private var from: Int64? { start ?? times.first }
    private var to: Int64? { end ?? times.last }

    /// In milliseconds.
    package var length: Int64 {
        guard let from, let to else { return 0 }
        return max(0, to.subtractingClamped(from))
    }

    /// Milliseconds between readings that count as a gap: five times the usual step, limited to 1 s to 1 min, but at
    /// least five times `resolution`. The usual step is the lower quartile, which gaps do not increase.
    private var gapLength: Int64 {
        let steps = zip(times, times.dropFirst()).map { $1.subtractingClamped($0) }.sorted()
        guard steps.count >= 10 else { return max(1000, min(resolution, .max / 5) * 5) }
        let usual = min(steps[(steps.count - 1) / 4], 12_000)
        return max(1000, usual * 5, min(resolution, .max / 5) * 5)
    }

    fileprivate struct Track {
        var values: [Double] = []
        /// Milliseconds from each value to the next; negative for a gap.
        var steps: [Int64] = []
        /// Milliseconds from the period's start to the first value, and from the last one to its end; 0 for a gap. Sums
        /// extend the two values over these times.
        var edges: (first: Int64, last: Int64) = (0, 0)
        /// Milliseconds without values.
        var gaps: Int64 = 0
    }

    private func track(of quantity: Quantity?, _ gapLength: Int64) -> Track {
        let column = quantity.flatMap { quantities.firstIndex(of: $0) }.map { columns[$0] }
        var track = Track()
        guard var before = from, let to else { return track }
        for (index, time) in times.enumerated() {
            let value = column?[index] ?? 0
            guard !value.isNaN else { continue }
            let step = max(0, time.subtractingClamped(before))
            if step > gapLength { track.gaps += step }
            if track.values.isEmpty {
                if step <= gapLength { track.edges.first = step }
            } else {
                track.steps.append(step > gapLength ? -1 : step)
            }
            track.values.append(value)
            before = time
        }
        let rest = max(0, to.subtractingClamped(before))
        if rest > gapLength { track.gaps += rest } else if !track.values.isEmpty { track.edges.last = rest }
        return track
    }

    /// Milliseconds without readings.
    package var gaps: Int64 { track(of: nil, gapLength).gaps }

    // MARK: Judging

    /// - Parameter allowedGaps: share of the time, and of the readings, that may be missing; 0 to 1.
    /// - Returns: verdicts in the order of `limits`.
    package func judge(_ limits: [Limit], allowedGaps: Double) -> [LimitVerdict] {
        let gapLength = gapLength
        var tracks: [Quantity: Track] = [:]
        return limits.map { limit in
            guard count > 0 else { return LimitVerdict(.undecided(reason: "nothing was measured"), value: nil) }
            let track = limit.quantity.flatMap { tracks[$0] } ?? track(of: limit.quantity, gapLength)
            if let quantity = limit.quantity { tracks[quantity] = track }
            return judge(limit, track, allowedGaps)
        }
    }

    private func judge(_ limit: Limit, _ track: Track, _ allowedGaps: Double) -> LimitVerdict {
        guard let value = value(of: limit.measure, track) else {
            return LimitVerdict(.undecided(reason: tooFew(limit, track)), value: nil)
        }
        if limit.measure == .duration { return verdict(limit, value.whole) }
        // If further readings cannot change the verdict, ignore gaps.
        let isMet = limit.comparison.holds(value.seen, limit.bound)
        if limit.isBrokenForGood, !isMet, resolution == 0 || !isTurning(limit) {
            return LimitVerdict(.broken, value: value.seen)
        }
        if limit.measure == .count, !limit.comparison.isUpper, isMet { return LimitVerdict(.kept, value: value.seen) }
        if let reason = unknown(limit, track, allowedGaps) {
            return LimitVerdict(.undecided(reason: reason), value: value.whole)
        }
        return verdict(limit, value.whole)
    }

    private func verdict(_ limit: Limit, _ value: Double) -> LimitVerdict {
        LimitVerdict(limit.comparison.holds(value, limit.bound) ? .kept : .broken, value: value)
    }

    /// Value in the measure's unit; nil for too few readings. For energy and charge, `seen` excludes gaps, and `whole`
    /// fills them with the mean. Otherwise both are equal.
    private func value(of measure: Limit.Measure, _ track: Track) -> (seen: Double, whole: Double)? {
        func sum(_ unit: Double) -> (seen: Double, whole: Double)? {
            track.integral.map { integral in
                let missing = integral.sum / integral.seconds * Double(track.gaps) / 1000
                return (integral.sum / unit, (integral.sum + missing) / unit)
            }
        }
        let value: Double?
        switch measure {
        case .energy: return sum(3600)
        case .charge: return sum(3.6)
        case .mean: value = track.integral.map { $0.sum / $0.seconds }
        case .least(let quantity): value = least(quantity, track)
        case .greatest(let quantity): value = greatest(quantity, track)
        case .range(let quantity):
            value = least(quantity, track).flatMap { least in greatest(quantity, track).map { $0 - least } }
        case .percentile(_, let part): value = track.percentile(part)
        case .deviation: value = track.deviation
        case .share(_, let side, let bound): value = track.share { side.holds($0, bound) }
        case .count: value = Double(count)
        case .duration: value = Double(duration ?? length) / 1000
        }
        return value.map { ($0, $0) }
    }

    private func least(_ quantity: Quantity, _ track: Track) -> Double? {
        track.values.min().map { min($0, extremes[quantity]?.lowerBound ?? $0) }
    }

    private func greatest(_ quantity: Quantity, _ track: Track) -> Double? {
        track.values.max().map { max($0, extremes[quantity]?.upperBound ?? $0) }
    }

    private func tooFew(_ limit: Limit, _ track: Track) -> String {
        let count = track.values.count
        guard count > 0 else { return "no reading has a \(limit.quantity?.alertWord ?? "value")" }
        if case .percentile(_, let part) = limit.measure {
            return "\(count) readings are too few: it takes \(Track.readingsMin(for: part))"
        }
        return "\(count) reading\(count == 1 ? " is" : "s are") too few"
    }

    private static func seconds(_ milliseconds: Int64) -> String { "\(milliseconds / 1000).\(milliseconds / 100 % 10)" }

    /// Returns why a value does not describe the whole period; nil if it does.
    private func unknown(_ limit: Limit, _ track: Track, _ allowed: Double) -> String? {
        if resolution > 0, !isTold(limit) {
            return "only means of \(Duration.milliseconds(resolution).shortText) are left"
        }
        if Double(track.gaps) > allowed * Double(length) {
            return "nothing was measured for \(Self.seconds(track.gaps)) of \(Self.seconds(length)) s"
        }
        if Double(lost) > allowed * Double(lost + count) {
            return "\(lost) of \(lost + count) readings were lost"
        }
        return nil
    }

    /// Whether the quantity flowed in both directions, so that stored means lack the magnitudes (but not the greatest
    /// one).
    private func isTurning(_ limit: Limit) -> Bool {
        if case .greatest = limit.measure { return false }
        return limit.quantity.map { turning.contains($0) } ?? false
    }

    /// Whether means and stored extremes suffice for the limit's value.
    private func isTold(_ limit: Limit) -> Bool {
        switch limit.measure {
        case .mean, .energy, .charge: return !isTurning(limit)
        case .greatest(let quantity): return extremes[quantity] != nil
        case .least(let quantity), .range(let quantity): return extremes[quantity] != nil && !isTurning(limit)
        case .percentile, .deviation, .share, .count, .duration: return false
        }
    }
}

package struct LimitVerdict: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case kept
        case broken
        case undecided(reason: String)
    }

    package var kind: Kind
    /// In the limit's unit; nil for too few readings.
    package var value: Double?

    package init(_ kind: Kind, value: Double?) {
        self.kind = kind
        self.value = value
    }
}

extension Limit {
    /// Whether the limit, once broken, stays broken.
    fileprivate var isBrokenForGood: Bool {
        switch measure {
        case .least: !comparison.isUpper
        case .greatest, .range, .energy, .charge, .count: comparison.isUpper
        default: false
        }
    }
}

extension MeasuredStretch.Track {
    /// Integral by the trapezoid rule (value times seconds), and integrated seconds. The first and last values extend
    /// to the ends of the period. Nil for fewer than two values.
    fileprivate var integral: (sum: Double, seconds: Double)? {
        guard values.count > 1, let first = values.first, let last = values.last else { return nil }
        let ends = (Double(edges.first) / 1000, Double(edges.last) / 1000)
        var (sum, seconds) = (first * ends.0 + last * ends.1, ends.0 + ends.1)
        for (index, step) in steps.enumerated() where step >= 0 {
            let time = Double(step) / 1000
            sum += (values[index] + values[index + 1]) / 2 * time
            seconds += time
        }
        return seconds > 0 ? (sum, seconds) : nil
    }

    /// Smallest number of readings of which one lies beyond the percentile.
    fileprivate static func readingsMin(for part: Double) -> Int {
        Int(min(1e9, (100 / min(part, 100 - part) - 1e-6).rounded(.up)))
    }

    /// Linear interpolation (method 7 of Hyndman and Fan 1996); nil for too few values.
    fileprivate func percentile(_ part: Double) -> Double? {
        guard values.count >= Self.readingsMin(for: part) else { return nil }
        let sorted = values.sorted()
        let place = part / 100 * Double(sorted.count - 1)
        let (low, high) = (Int(place.rounded(.down)), min(sorted.count - 1, Int(place.rounded(.up))))
        return sorted[low] + (sorted[high] - sorted[low]) * (place - Double(low))
    }

    fileprivate var deviation: Double? {
        guard values.count >= 2 else { return nil }
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.map { value in
            let distance = value - mean
            return distance * distance
        }
        return (squares.reduce(0, +) / Double(values.count)).squareRoot()
    }

    /// Returns the percentage of the time for which `holds` is true; nil without two values. Each value lasts until the
    /// next.
    fileprivate func share(_ holds: (Double) -> Bool) -> Double? {
        var (on, all) = (Int64(0), Int64(0))
        for (index, step) in steps.enumerated() where step >= 0 {
            all += step
            if holds(values[index]) { on += step }
        }
        return all > 0 ? Double(on) / Double(all) * 100 : nil
    }
}
